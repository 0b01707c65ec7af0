import Foundation
import Glibc
import Logging
import PushCore
import PushGateway

/// A test gateway in a temporary folder, which is removed at its end.
struct TestServer {
  /// The data that a client of a test gateway needs: the ready line of `pushcli serve --test --json`.
  struct Ready: Encodable {
    /// The URL of the provider API.
    var apns: String
    /// The file with the certificate that senders have to trust.
    var ca: String
    /// The URL of the test API.
    var http: String
    var pid: Int32
    /// The state folder, for other commands.
    var state: String
  }

  let gateway: Gateway
  let ready: Ready
  private let log: LogWriter

  /// The settings of a test gateway that differ from the defaults. One event loop keeps the order of arrival.
  private static let settings = [
    "listen": "127.0.0.1:0", "http_listen": "127.0.0.1:0", "durability": "normal", "log_level": "warning", "loops": "1",
  ]

  /// Returns the path of a new folder: in memory, where a sync costs nothing, if there is enough of it and `TMPDIR` is not
  /// set.
  static func newFolder() -> String {
    let files = FileManager.default
    let free = try? files.attributesOfFileSystem(forPath: memory)[.systemFreeSize] as? Int
    let isInMemory =
      ProcessInfo.processInfo.environment["TMPDIR"] == nil && free ?? 0 >= neededMemory
      && files.isWritableFile(atPath: memory)
    let parent = isInMemory ? memory : files.temporaryDirectory.path
    return parent + "/pushgateway-test-" + randomUUID().prefix(8).lowercased()
  }

  private static let memory = "/dev/shm"
  /// The free bytes of a file system in memory from which it is used: containers have 64 MiB by default, which a long run
  /// of tests would fill.
  private static let neededMemory = 1 << 30

  /// Starts a gateway.
  ///
  /// - Parameters:
  ///   - folder: the path of its folder, which is created.
  ///   - settings: the settings that the user has given, by their names.
  ///   - begins: called before the gateway listens; from then on it must end through ``stop()``.
  static func start(
    in folder: String, _ options: TestOptions, settings given: [String: String],
    begins: @escaping @Sendable () -> Void = {}
  ) async throws -> TestServer {
    let environment = ProcessInfo.processInfo.environment
    let configuration: Configuration
    do {
      // Variables of another gateway do not apply.
      configuration = try Configuration(
        state: folder, flags: settings.merging(given) { $1 }, file: nil, environment: [:])
      try options.check(configuration)
    } catch {
      throw CommandFailure(.usage, error.description)
    }
    let log = LogWriter(configuration.logFormat, environment: environment)
    let threshold = LogThreshold(Logger.Level(rawValue: configuration.logLevel) ?? .warning)
    let logger = Logger(label: "pushgateway") { _ in GatewayLog(threshold: threshold, writer: log) }
    do {
      try PrivateFile.createFolder(folder)
      let gateway = try await Gateway.start(
        configuration, logger: logger, threshold: threshold, supervisor: Supervisor(begins: begins), test: options)
      guard let address = gateway.addresses.first,
        let http = gateway.httpAddresses.first(where: { !$0.hasPrefix("https://") })
      else {
        await gateway.stop()
        throw CommandFailure(
          .usage, "a test gateway needs an address of listen, and one of http_listen without https://")
      }
      let ready = Ready(
        apns: "https://" + local(address), ca: StateFolder(folder).trustPath, http: "http://" + local(http),
        pid: getpid(), state: folder)
      return TestServer(gateway: gateway, ready: ready, log: log)
    } catch {
      log.flush(within: .seconds(2))
      try? remove(folder)
      throw error as? CommandFailure ?? CommandFailure(.failed, "\(error)")
    }
  }

  /// Returns an address by which this machine reaches a listener on all of its addresses.
  private static func local(_ address: String) -> String {
    address.hasPrefix("0.0.0.0:") ? "127.0.0.1\(address.dropFirst(7))" : address
  }

  /// Stops the gateway, and removes its folder. Prints a warning if its recording is incomplete, or if the folder stays.
  func stop() async {
    await gateway.stop()
    if let problem = gateway.recordingProblem { Output.words("pushcli: \(problem)") }
    log.flush(within: .seconds(2))
    do {
      try Self.remove(ready.state)
    } catch {
      Output.words("pushcli: the folder \(ready.state) was not removed: \(error.localizedDescription)")
    }
  }

  /// Removes the folder of a test gateway. Tries again while a gateway that has not ended yet makes files in it.
  static func remove(_ folder: String) throws {
    let files = FileManager.default
    for _ in 1..<removalAttempts {
      try? files.removeItem(atPath: folder)
      if !files.fileExists(atPath: folder) { return }
    }
    try files.removeItem(atPath: folder)
  }

  private static let removalAttempts = 10

  /// Calls `end` when standard input closes, if it is a pipe or a socket: the program that started the gateway has ended.
  ///
  /// A terminal, a file and `/dev/null` are not read.
  static func whenInputCloses(_ end: @escaping @Sendable () -> Void) {
    var status = stat()
    guard unsafe fstat(STDIN_FILENO, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
      return
    }
    Thread.detachNewThread {
      let size = 4096
      var buffer = [UInt8](repeating: 0, count: size)
      while true {
        let count = unsafe Glibc.read(STDIN_FILENO, &buffer, size)
        if count == 0 || count < 0 && errno != EINTR { break }
      }
      end()
    }
  }
}
