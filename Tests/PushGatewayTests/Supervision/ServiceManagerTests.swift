import Glibc
import PushTesting
import Testing

@testable import PushGateway

@Suite struct ServiceManagerTests {
  @Test(arguments: [
    (["NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "30000000"], Duration.seconds(30)),
    (["NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "5", "WATCHDOG_PID": "7"], .microseconds(5)),
    (["NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "5", "WATCHDOG_PID": "8"], nil),
    (["NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "0"], nil), (["NOTIFY_SOCKET": "/run/x"], nil),
    (["NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "soon"], nil),
    (["NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "-5"], nil),
    (["WATCHDOG_USEC": "30000000"], nil), (["NOTIFY_SOCKET": "x", "WATCHDOG_USEC": "30000000"], nil),
  ]) func `the watchdog's time is the one that is meant for this process`(
    _ variables: [String: String], _ expected: Duration?
  ) {
    #expect(ServiceManager(variables, process: 7).watchdogTime == expected)
  }

  @Test func `what is told is one datagram, a variable a line`() throws {
    let folder = try TemporaryFolder()
    let place = try Datagrams(path: folder.file("notify"))
    let manager = ServiceManager(["NOTIFY_SOCKET": folder.file("notify")])
    manager.ready("listening on\n127.0.0.1:2197")
    #expect(place.next() == "READY=1\nSTATUS=listening on 127.0.0.1:2197")
    manager.reloading("reading")
    let lines = try #require(place.next()?.split(separator: "\n"))
    #expect(lines.count == 3 && lines[0] == "RELOADING=1" && lines[2] == "STATUS=reading")
    #expect(lines[1].hasPrefix("MONOTONIC_USEC=") && UInt64(lines[1].dropFirst(15)) != nil)
    manager.stopping()
    #expect(place.next() == "STOPPING=1\nSTATUS=stopping")
    manager.alive()
    #expect(place.next() == "WATCHDOG=1")
  }

  @Test func `the watchdog has the time of a start from a restart until the next program is ready`() throws {
    let folder = try TemporaryFolder()
    let place = try Datagrams(path: folder.file("notify"))
    let manager = ServiceManager(["NOTIFY_SOCKET": folder.file("notify"), "WATCHDOG_USEC": "30000000"])
    manager.reloading("handing over", isRestart: true)
    #expect(place.next()?.hasSuffix("\nSTATUS=handing over\nWATCHDOG_USEC=300000000") == true)
    manager.ready("listening")
    #expect(place.next() == "READY=1\nSTATUS=listening\nWATCHDOG_USEC=30000000")
  }

  @Test func `a manager that is not there, or has a name that is too long, is not waited for`() {
    ServiceManager(["NOTIFY_SOCKET": "/no/such/socket"]).ready("")
    ServiceManager(["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 4000)]).ready("")
    ServiceManager.none.ready("")
  }
}

/// A socket that receives datagrams.
private final class Datagrams {
  private let descriptor: Int32

  init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var place = sockaddr_un()
    place.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &place.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let result = unsafe withUnsafePointer(to: place) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
  }

  deinit { close(descriptor) }

  /// Returns the next datagram that has arrived.
  func next() -> String? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let size = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return size < 0 ? nil : String(decoding: bytes.prefix(size), as: UTF8.self)
  }
}
