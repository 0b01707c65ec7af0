import Foundation

/// A test gateway: an APNs server on this machine that records each request of a sender.
///
/// ```swift
/// let server = try await PushGatewayServer.shared
/// let device = try await server.device(topic: "com.example.train")
/// try await sendPush(to: device.token, url: server.apnsURL, trusting: server.caFile)
/// try await device.expect(title: "Train in 5 Minutes", presented: true)
/// ```
public final class PushGatewayServer: Sendable {
  /// The URL of the provider API, for the sender.
  public let apnsURL: String
  /// The file with the certificate that the sender has to trust.
  public let caFile: String
  /// The URL of the test API.
  public let testURL: String
  private let api: TestAPI

  private init(apns: String, ca: String, http: String, process: GatewayProcess?) {
    (apnsURL, caFile, testURL) = (apns, ca, http)
    api = TestAPI(url: http, process: process)
  }

  /// Starts a gateway, unless `pushcli test-run` has started it.
  ///
  /// The program is `$PUSHCLI`, or `pushcli` of `$PATH`. If `PUSHGATEWAY_TEST_URL` is set, no gateway is started. The gateway ends
  /// with this object and its devices, and with the process.
  ///
  /// - Parameter options: further options of `pushcli serve --test`, such as `--strict`.
  public static func start(options: [String] = []) async throws -> PushGatewayServer {
    try await start(options: options, environment: ProcessInfo.processInfo.environment)
  }

  static func start(options: [String], environment: [String: String]) async throws -> PushGatewayServer {
    if let http = environment["PUSHGATEWAY_TEST_URL"], !http.isEmpty {
      guard let apns = environment["APNS_URL"], let ca = environment["APNS_CA"] else {
        throw PushGatewayError(
          "PUSHGATEWAY_TEST_URL is set, but APNS_URL or APNS_CA is missing: set all three, as `pushcli test-run` does")
      }
      return PushGatewayServer(apns: apns, ca: ca, http: http, process: nil)
    }
    guard let program = GatewayProcess.program(in: environment) else {
      throw PushGatewayError("pushcli was not found: set PUSHCLI to its path, or add its folder to PATH")
    }
    let (process, ready) = try await GatewayProcess.start(program, options: options)
    return PushGatewayServer(apns: ready.apns, ca: ready.ca, http: ready.http, process: process)
  }

  private static let starting = Task { try await PushGatewayServer.start() }

  /// The gateway of all tests of the process. The first use starts it.
  public static var shared: PushGatewayServer {
    get async throws { try await starting.value }
  }

  /// True if there is a `pushcli`, or a gateway of `pushcli test-run`: a condition for tests that need a gateway.
  public static var isAvailable: Bool {
    let environment = ProcessInfo.processInfo.environment
    return environment["PUSHGATEWAY_TEST_URL"]?.isEmpty == false || GatewayProcess.program(in: environment) != nil
  }

  /// Ends the gateway, unless `pushcli test-run` started it.
  public func stop() { api.process?.stop() }

  /// Adds a device for one test.
  ///
  /// - Parameters:
  ///   - preferences: the preferences of its user, in the form of `pushcli prefs show --json`.
  ///   - token: the token; nil for a new one.
  ///   - channels: the ids of the broadcast channels that the device subscribes to, as in `apns-channel-id`.
  public func device(
    topic: String = "com.example.app", preferences: JSONValue? = nil, token: String? = nil, channels: [String] = []
  ) async throws -> PushDevice {
    struct Device: Decodable {
      let token: String
      let topic: String
    }
    var members: [String: JSONValue] = ["topic": .string(topic)]
    members["preferences"] = preferences
    members["token"] = token.map { .string($0) }
    if !channels.isEmpty { members["channels"] = .array(channels.map { .string($0) }) }
    let device: Device = try await api.call(.addDevice, body: .object(members)).decoded()
    return PushDevice(token: device.token, topic: device.topic, api: api)
  }

  /// Returns the recorded pushes to all tokens, the oldest first, at most 10,000.
  public func pushes(_ state: PushState = .any) async throws -> [RecordedPush] {
    try await api.pushes(state, to: nil)
  }

  /// The clock of the gateway, which all its tests share.
  public var clock: PushClock { PushClock(api: api) }

  /// The reactions of the sender to refusals so far.
  public var report: PushReport {
    get async throws { try await api.call(.report).decoded() }
  }
}

/// The clock of a test gateway: provider tokens expire, quiet hours begin and scheduled pushes come without waiting.
public struct PushClock: Sendable {
  private struct Time: Decodable { let now: String }

  let api: TestAPI

  /// The time of the gateway in RFC 3339.
  public var now: String {
    get async throws { try await api.call(.clock).decoded(Time.self).now }
  }

  /// Advances the clock. All tests of the gateway share it.
  public func advance(by duration: Duration) async throws {
    _ = try await api.call(.setClock, body: ["advance": .string(duration.text)])
  }

  /// Sets the clock to the time of the system.
  public func reset() async throws { _ = try await api.call(.setClock, body: ["reset": true]) }
}
