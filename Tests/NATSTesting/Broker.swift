import Foundation
import Glibc
package import NATSClient
import PushTesting
import Synchronization

/// Brokers for one test: real servers on free ports, with their files in a folder that goes with them.
///
/// The binary is `$NATS_SERVER`, or `nats-server` of the `PATH` or of `~/.cache/pushgateway`.
package final class BrokerCluster: Sendable {
  /// Where the binary is; nil: tests that need it are skipped.
  package static let binary: String? = {
    let environment = ProcessInfo.processInfo.environment
    let named = environment["NATS_SERVER"].map { [$0] } ?? []
    let found = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/nats-server" }
    let cached = (environment["HOME"]).map { ["\($0)/.cache/pushgateway/nats-server"] } ?? []
    return (named + found + cached).first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  package static var isAvailable: Bool { binary != nil }

  private struct Server {
    let configuration: String
    let port: UInt16
    /// Ends the process when it is closed: so that goes also when the tests are killed.
    var lifeline: Lifeline?
  }

  /// A pipe to a process, of `popen`. Foundation's `Process` wants a run loop, which the threads of tests have none of.
  @safe private struct Lifeline: @unchecked Sendable {
    private let pipe: UnsafeMutablePointer<FILE>

    init?(_ command: String) {
      guard let pipe = unsafe popen(command, "we") else { return nil }
      unsafe self.pipe = pipe
    }

    /// Closes the pipe, and waits for the process.
    func close() { _ = unsafe pclose(pipe) }
  }

  private let folder: TemporaryFolder
  private let servers: Mutex<[Server]>

  /// Starts one broker, or several as a cluster; when this returns each accepts connections.
  package init(count: Int = 1) throws {
    folder = try TemporaryFolder()
    let ports = try freePorts(count: 2 * count)
    let routes = ports[count...].map { #""nats://127.0.0.1:\#($0)""# }.joined(separator: ", ")
    var servers: [Server] = []
    for index in 0..<count {
      let store = folder.file("store-\(index)")
      let cluster =
        count == 1
        ? "" : "cluster { name: C, host: 127.0.0.1, port: \(ports[count + index]), routes: [\(routes)] }\n"
      let text = """
        server_name: n\(index)
        host: 127.0.0.1
        port: \(ports[index])
        jetstream { store_dir: "\(store)", max_mem: 64M, max_file: 2G }
        \(cluster)
        """
      servers.append(
        Server(configuration: try folder.write(Array(text.utf8), "n\(index).conf"), port: ports[index], lifeline: nil))
    }
    self.servers = Mutex(servers)
    for index in 0..<count { try start(index) }
  }

  deinit { for index in servers.withLock({ $0.indices }) { kill(index) } }

  /// Their addresses.
  package var addresses: [String] { servers.withLock { $0.map { "nats://127.0.0.1:\($0.port)" } } }

  package var options: NATSOptions { NATSOptions(servers: addresses, name: "test") }

  /// Starts one that was not started, or killed.
  package func start(_ index: Int) throws {
    guard let binary = BrokerCluster.binary else { throw Missing() }
    let configuration = servers.withLock { $0[index].configuration }
    let lifeline = Lifeline(
      """
      '\(binary)' -c '\(configuration)' >'\(configuration).log' 2>&1 & server=$!; cat >/dev/null; kill -9 $server; wait $server
      """)
    guard let lifeline else { throw Missing() }
    let port = servers.withLock { servers in
      servers[index].lifeline = lifeline
      return servers[index].port
    }
    let deadline = ContinuousClock.now + .seconds(60)
    while !isListening(port) {
      guard ContinuousClock.now < deadline else { throw Missing() }
      usleep(5000)
    }
  }

  /// Ends one as a power failure would; its files stay.
  package func kill(_ index: Int) {
    servers.withLock { $0[index].lifeline.take() }?.close()
  }

  /// A broker did not start.
  package struct Missing: Error {}
}

/// Connects to an address of this machine's; whether somebody accepts.
private func isListening(_ port: UInt16) -> Bool {
  unsafe withSocket(port) { socket, address, size in unsafe connect(socket, address, size) == 0 }
}

/// Ports that this process has handed out: none comes twice.
private let handedOut = Mutex<Set<UInt16>>([])

/// Ports that nobody has now, none of those that the system gives to connections and listeners by itself: those might go to
/// somebody else until a broker takes them.
private func freePorts(count: Int) throws -> [UInt16] {
  var ports: [UInt16] = []
  for port in (UInt16(10_000)..<32_000).shuffled() where ports.count < count {
    guard handedOut.withLock({ $0.insert(port).inserted }) else { continue }
    if unsafe withSocket(port, { socket, address, size in unsafe bind(socket, address, size) == 0 }) {
      ports.append(port)
    }
  }
  guard ports.count == count else { throw BrokerCluster.Missing() }
  return ports
}

private func localAddress(_ port: UInt16) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return address
}

private func withSocket(_ port: UInt16, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
  let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  guard socket >= 0 else { return false }
  defer { close(socket) }
  var address = localAddress(port)
  return unsafe withUnsafePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe body(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
}
