import Glibc
import Testing

@testable import PushCore

@Suite struct PortHolderTests {
  /// The table of a machine that listens on 127.0.0.1:2197, 10.0.0.2:443 and 0.0.0.0:22, and has a connection on port
  /// 2197.
  private static let table = """
      sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
       0: 0100007F:0895 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0000000000000000 100 0 0 10 0
       1: 0200000A:01BB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 222 1 0000000000000000 100 0 0 10 0
       2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 333 1 0000000000000000 100 0 0 10 0
       3: 0100007F:0895 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        0 444 1 0000000000000000 100 0 0 10 0
       4: short
    """

  @Test(
    arguments: [
      ("127.0.0.1", 2197, ["111"]), ("0.0.0.0", 2197, ["111"]), ("127.0.0.2", 2197, []), ("::1", 2197, []),
      ("10.0.0.2", 443, ["222"]), ("10.0.0.2", 22, ["333"]), ("127.0.0.1", 80, []), ("no address", 443, ["222"]),
    ] as [(String, Int, [String])])
  func `the sockets that keep an address from being bound listen on it, or on any`(
    _ host: String, _ port: Int, _ inodes: [String]
  ) {
    #expect(PortHolder.inodes(listeningOn: port, host: host, in: Self.table) == inodes)
  }

  @Test func `an address of version 6 is told from others`() {
    let table = """
      head
       0: 00000000000000000000000001000000:0895 00000000000000000000000000000000:0000 0A 0:0 0:0 0 1000 0 555 1
       1: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 1000 0 666 1
      """
    #expect(PortHolder.inodes(listeningOn: 2197, host: "::1", in: table) == ["555"])
    #expect(PortHolder.inodes(listeningOn: 2197, host: "::2", in: table) == [])
    #expect(PortHolder.inodes(listeningOn: 80, host: "127.0.0.1", in: table) == ["666"])
  }

  @Test func `the holder of each port is found in a table of more than one page`() throws {
    var sockets: [Int32] = []
    defer { for socket in sockets { close(socket) } }
    var ports: [Int] = []
    for _ in 0..<100 {
      let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      sockets.append(socket)
      try #require(listen(socket, 1) == 0)
      var address = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(socket, $0, &size) }
      }
      try #require(result == 0)
      ports.append(Int(UInt16(bigEndian: address.sin_port)))
    }
    for port in [ports[0], ports[50], ports[99]] {
      let holder = PortHolder.find(host: "127.0.0.1", port: port)
      #expect(holder?.hasSuffix(" (process \(getpid()))") == true)
    }
    let table = try #require(ProcFile.text("/proc/net/tcp"))
    #expect(ports.allSatisfy { PortHolder.inodes(listeningOn: $0, host: "127.0.0.1", in: table).count == 1 })
  }
}
