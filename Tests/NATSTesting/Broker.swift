import Foundation
import Glibc
package import NATSClient
import Synchronization

/// Real NATS servers on free ports of this machine. Their processes and files end with the test process, also if it is
/// killed.
///
/// Most tests share one server through ``account()``. A test that kills a server starts its own with ``start(count:)``.
///
/// The binary is `$NATS_SERVER`, or `nats-server` of the `PATH` or of `~/.cache/pushgateway`.
package final class BrokerCluster: Sendable {
  /// The path of the binary. If it is nil, tests that need a server are skipped.
  package static let binary: String? = {
    let environment = ProcessInfo.processInfo.environment
    let named = environment["NATS_SERVER"].map { [$0] } ?? []
    let found = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/nats-server" }
    let cached = (environment["HOME"]).map { ["\($0)/.cache/pushgateway/nats-server"] } ?? []
    return (named + found + cached).first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  package static var isAvailable: Bool { binary != nil }

  private let folder: String
  private let ports: [UInt16]
  private let processes: Mutex<[BrokerProcess?]>

  private init(folder: String, ports: [UInt16]) {
    (self.folder, self.ports) = (folder, ports)
    processes = Mutex(Array(repeating: nil, count: ports.count))
  }

  /// Starts servers, as a cluster if there are several. Returns when each accepts connections.
  package static func start(count: Int = 1) async throws -> BrokerCluster {
    try await start(count: count, accounts: "")
  }

  private static func start(count: Int, accounts: String) async throws -> BrokerCluster {
    for _ in 0..<4 {
      // Another process may take a port between its selection and the start.
      do { return try await attempt(count: count, accounts: accounts) } catch let error as Missing {
        guard error.log.contains("address already in use") else { throw error }
      }
    }
    return try await attempt(count: count, accounts: accounts)
  }

  private static func attempt(count: Int, accounts: String) async throws -> BrokerCluster {
    let folder = FileManager.default.temporaryDirectory.path + "/pg-brokers-" + UUID().uuidString.prefix(13)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let ports = try freePorts(count: 2 * count)
    let routes = ports[count...].map { #""nats://127.0.0.1:\#($0)""# }.joined(separator: ", ")
    for index in 0..<count {
      let cluster =
        count == 1
        ? "" : "cluster { name: C, host: 127.0.0.1, port: \(ports[count + index]), routes: [\(routes)] }\n"
      let text = """
        server_name: n\(index)
        host: 127.0.0.1
        port: \(ports[index])
        jetstream { store_dir: "\(folder)/store-\(index)", max_mem: 64M, max_file: 2G }
        \(cluster)\(accounts)
        """
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/n\(index).conf"))
    }
    let cluster = BrokerCluster(folder: folder, ports: Array(ports[..<count]))
    for index in 0..<count { try await cluster.start(index) }
    return cluster
  }

  deinit {
    for process in processes.withLock({ $0 }) { process?.end(keepingFiles: false) }
  }

  /// The addresses of the servers.
  package var addresses: [String] { ports.map { "nats://127.0.0.1:\($0)" } }

  package var options: NATSOptions { NATSOptions(servers: addresses, name: "test") }

  /// Starts a server that has not been started or that was killed. Returns when it accepts connections.
  package func start(_ index: Int) async throws {
    guard let binary = BrokerCluster.binary else { throw Missing(log: "there is no nats-server") }
    let process = try BrokerProcess(binary: binary, folder: folder, configuration: "n\(index).conf")
    processes.withLock { $0[index] = process }
    try await process.waitUntilReady()
  }

  /// Ends a server as a power failure does, and keeps its files. Returns when the process has ended.
  package func kill(_ index: Int) async {
    await processes.withLock { $0[index].take() }?.kill()
  }

  /// The error if a server did not start.
  package struct Missing: Error { let log: String }

  // MARK: One server for all tests

  private actor Shared {
    static let one = Shared()
    private static let accountCount = 200
    private var starting: Task<BrokerCluster, any Error>?
    private var used = 0

    func account() async throws -> NATSOptions {
      let accounts = (1...Shared.accountCount).map {
        "A\($0) { jetstream: enabled, users: [{ user: a\($0), password: a }] }"
      }
      let task =
        starting
        ?? Task {
          try await BrokerCluster.start(count: 1, accounts: "accounts {\n\(accounts.joined(separator: "\n"))\n}\n")
        }
      starting = task
      used += 1
      precondition(used <= Shared.accountCount, "more than \(Shared.accountCount) tests use the shared NATS server")
      let number = used
      let port = try await task.value.ports[0]
      return NATSOptions(servers: ["nats://a\(number):a@127.0.0.1:\(port)"], name: "test")
    }
  }

  /// Returns an account of the server that all tests of this process share, with its own streams and subjects.
  package static func account() async throws -> NATSOptions { try await Shared.one.account() }
}

/// A process of `nats-server` that ends with this process.
private final class BrokerProcess: Sendable {
  private struct State {
    var isReady = false
    var hasEnded = false
    var log: [String] = []
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// The pipe to the shell that owns the server process.
  @safe private struct Lifeline: @unchecked Sendable {
    private let pipe: UnsafeMutablePointer<FILE>

    init?(_ command: String) {
      // A shell inherits the signal mask. Threads of the pool block SIGCHLD, without which `wait` never returns.
      var (child, before) = (sigset_t(), sigset_t())
      unsafe sigemptyset(&child)
      unsafe sigaddset(&child, SIGCHLD)
      unsafe pthread_sigmask(SIG_UNBLOCK, &child, &before)
      defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
      guard let pipe = unsafe popen(command, "we") else { return nil }
      unsafe self.pipe = pipe
    }

    /// Writes `word` to the pipe, which may be empty, closes it, and waits for the shell. Blocks.
    func close(_ word: String) {
      _ = unsafe fputs(word, pipe)
      _ = unsafe pclose(pipe)
    }
  }

  private let state = Mutex(State())
  private let lifeline: Mutex<Lifeline?>

  init(binary: String, folder: String, configuration: String) throws {
    let log = "\(folder)/\(configuration)-\(UUID().uuidString.prefix(8)).log"
    guard unsafe mkfifo(log, 0o600) == 0 else { throw BrokerCluster.Missing(log: "mkfifo \(log) failed") }
    // End of file without a word means that the files are no longer needed: the test or its process has ended.
    let command = """
      trap '' INT
      '\(binary)' -c '\(folder)/\(configuration)' >'\(log)' 2>&1 & server=$!
      read -r keep
      kill -9 $server; wait $server 2>/dev/null
      [ -n "$keep" ] || rm -rf '\(folder)'
      """
    guard let lifeline = Lifeline(command) else { throw BrokerCluster.Missing(log: "the shell did not start") }
    self.lifeline = Mutex(lifeline)
    Thread.detachNewThread { [self] in read(log) }
  }

  /// Reads the output of the server until it ends, on its own thread.
  private func read(_ path: String) {
    let file = FileHandle(forReadingAtPath: path)
    var rest = ""
    while let bytes = file?.availableData, !bytes.isEmpty {
      var lines = (rest + String(decoding: bytes, as: UTF8.self)).components(separatedBy: "\n")
      rest = lines.removeLast()
      change { state in
        state.log = (state.log + lines).suffix(20)
        if lines.contains(where: { $0.contains("Server is ready") }) { state.isReady = true }
      }
    }
    try? FileManager.default.removeItem(atPath: path)
    change { $0.hasEnded = true }
  }

  private func change(_ body: (inout State) -> Void) {
    let waiters = state.withLock { state in
      body(&state)
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  private func wait(until condition: (State) -> Bool) async {
    while !state.withLock({ condition($0) }) {
      await withCheckedContinuation { waiter in
        let isOver = state.withLock { state in
          if condition(state) { return true }
          state.waiters.append(waiter)
          return false
        }
        if isOver { waiter.resume() }
      }
    }
  }

  /// - Throws: ``BrokerCluster/Missing`` with the end of the log if the server ended early.
  func waitUntilReady() async throws {
    await wait { $0.isReady || $0.hasEnded }
    let (isReady, log) = state.withLock { ($0.isReady, $0.log) }
    guard isReady else { throw BrokerCluster.Missing(log: log.joined(separator: "\n")) }
  }

  /// Kills the process. Returns when it has ended.
  func kill() async {
    end(keepingFiles: true)
    await wait { $0.hasEnded }
  }

  /// Kills the process without waiting for its end.
  func end(keepingFiles: Bool) {
    guard let lifeline = lifeline.withLock({ $0.take() }) else { return }
    Thread.detachNewThread { lifeline.close(keepingFiles ? "keep\n" : "") }
  }
}

/// The ports that this process has used. Each is used once.
private let handedOut = Mutex<Set<UInt16>>([])

/// Returns free ports outside of the range that the system assigns automatically: another process could get such a port
/// before the broker opens it.
private func freePorts(count: Int) throws -> [UInt16] {
  var ports: [UInt16] = []
  for port in (UInt16(10_000)..<32_000).shuffled() where ports.count < count {
    guard handedOut.withLock({ $0.insert(port).inserted }) else { continue }
    if unsafe withSocket(port, { socket, address, size in unsafe bind(socket, address, size) == 0 }) {
      ports.append(port)
    }
  }
  guard ports.count == count else { throw BrokerCluster.Missing(log: "no free ports") }
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

extension NATSConnection {
  /// Returns when the connection has lost its server.
  package func waitUntilDisconnected() async {
    let states = AsyncStream<LinkState>.makeStream()
    onLink { states.continuation.yield($0) }
    var changes = states.stream.makeAsyncIterator()
    while link.isConnected { _ = await changes.next() }
  }
}
