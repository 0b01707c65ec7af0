import Foundation
import GatewayClient
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushGateway

/// The test gateway of a conformance run, with a sender and an administrator. It can be started again on the same address.
final class ConformanceGateway {
  /// The app of the pushes.
  static let topic = "com.example.conformance"

  /// The path of the gateway's folder.
  let folder = TestServer.newFolder()
  private let options: TestOptions
  private var server: TestServer?
  /// The address, `HOST:PORT`, from the first start on.
  private(set) var address = ""
  /// The file with the certificate to trust.
  private(set) var trustPath = ""
  /// The device token of the client under test.
  private var token = ""
  private let bearer: String

  init(_ tap: DeviceTap) throws {
    var options = TestOptions()
    options.deviceTap = tap
    self.options = options
    let signer = ProviderTokenSigner(key: try ES256Key.generate(), keyID: "CONFORM001", teamID: "CONFORM001")
    bearer = try "bearer " + signer.token(now: Int(Date().timeIntervalSince1970))
  }

  func start() async throws {
    let settings: [String: String] = address.isEmpty ? [:] : ["listen": address]
    let started = try await TestServer.start(in: folder, options, settings: settings)
    address = String(started.ready.apns.dropFirst("https://".count))
    trustPath = started.ready.ca
    server = started
  }

  /// Stops the gateway and keeps its folder.
  func stop() async {
    await server?.gateway.stop()
    // Another gateway can use the folder only when this one is released.
    server = nil
  }

  /// Stops the gateway and removes its folder.
  func end() async {
    await stop()
    try? FileManager.default.removeItem(atPath: folder)
  }

  // MARK: The administrator

  /// Adds the app, and returns the code of an invitation.
  func invite() async throws -> String {
    let app = AppRequest(
      topic: ConformanceGateway.topic, name: "Conformance", icon: "🔔", policyMode: "report", ads: "off")
    _ = try await administer("POST", AdminPath.apps(), try encoded(app))
    let request = try encoded(InvitationRequest(validSeconds: 3600))
    let invitation = try await administer("POST", AdminPath.invitations(), request)
    return try decodeJSON(CreatedInvitation.self, from: invitation).code
  }

  /// Registers a device for the app, with a user who permits any number of alerts.
  ///
  /// - Returns: true if it was registered before.
  func register(_ device: String) async throws -> Bool {
    let record = try decodeJSON(DeviceRecord.self, from: try await administer("GET", AdminPath.device(device)))
    let request = RegistrationRequest(topic: ConformanceGateway.topic, environment: nil)
    let made = try await administer("POST", AdminPath.registrations(device), try encoded(request))
    token = try decodeJSON(RegistrationRecord.self, from: made).token
    let preferences = PreferencesRequest(
      settings: ["budget=unlimited"], app: ConformanceGateway.topic, category: nil)
    _ = try await administer("POST", AdminPath.preferences(device), try encoded(preferences))
    return record.apps.contains(ConformanceGateway.topic)
  }

  func remove(_ device: String) async throws { _ = try await administer("DELETE", AdminPath.device(device)) }

  private func encoded(_ value: some Encodable) throws -> [UInt8] { Array(try JSONEncoder().encode(value)) }

  private func administer(_ method: String, _ path: String, _ body: [UInt8] = []) async throws -> [UInt8] {
    let client = try await Client.connect(to: .admin(path: StateFolder(folder).adminSocket))
    defer { client.close() }
    return try accepted(try await client.request(method, path, body: body))
  }

  /// Returns the body of an answer.
  private func accepted(_ answer: Client.Answer) throws -> [UInt8] {
    guard (200..<300).contains(answer.status) else { throw CommandFailure(refusal: answer) }
    return answer.body
  }

  // MARK: The sender

  /// Sends pushes, and returns their ids.
  func push(_ payloads: [String]) async throws -> [String] {
    let client = try await sender()
    defer { client.close() }
    var ids: [String] = []
    for payload in payloads {
      let id = UUID().uuidString
      let fields = fields + [(.apnsPushType, "alert"), (.apnsID, id)]
      let path = "\(Paths.devicePush)\(token)"
      _ = try accepted(try await client.request("POST", path, fields, body: Array(payload.utf8)))
      ids.append(id)
    }
    return ids
  }

  /// Retracts a push.
  func retract(_ id: String) async throws {
    let client = try await sender()
    defer { client.close() }
    _ = try accepted(try await client.request("DELETE", "\(Paths.pushes)\(token)/\(id)", fields))
  }

  private var fields: [(HeaderName, String)] {
    [(.authorization, bearer), (.apnsTopic, ConformanceGateway.topic)]
  }

  private func sender() async throws -> Client {
    guard let place = GatewayAddress(line: address) else { throw CommandFailure(.failed, "the gateway has no address") }
    return try await Client.connect(to: .tls(host: place.host, port: place.port, trustPath: trustPath))
  }
}
