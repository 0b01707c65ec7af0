import Foundation
import GatewayClient
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The routes with which an administrator checks and sends a push.
struct SendAPI: Sendable {
  let registrations: any Registrations
  let recipients: MessageRecipients
  /// The environment of the gateway, in which pushes are sent.
  let environment: Environment
  let clock: WallClock
  /// The folder with the private keys.
  let folder: StateFolder
  /// The path of the admin socket, over which pushes reach the provider API.
  let socket: String

  var routes: [Router.Route] { [.init("POST", .pushes, .operator, send)] }

  /// The routes that change nothing. The console uses them while a payload is typed, and the audit trail does not have them.
  var checks: [Router.Route] { [.init("POST", .pushCheck, .operator, check)] }

  // MARK: Sending

  /// Sends a push through the provider API, as every sender does: with the same checks, limits and rows in the log.
  private func send(_ request: ControlRequest) async throws -> Response {
    let body: PushSendRequest = try request.decoded()
    let app = try registrations.app(topic: PushType.split(topic: body.topic).bundleID)
    let token = try signer(for: app).token(now: Int(clock.seconds))
    var fields = try SendAPI.fields(of: body)
    fields.append((.authorization, "bearer " + token))
    let client: Client
    do {
      client = try await Client.connect(to: .admin(path: socket))
    } catch {
      throw SendAPI.unreachable
    }
    defer { client.close() }
    let answer: Client.Answer
    do {
      answer = try await client.request(
        "POST", "/3/device/" + pathPart(body.token), fields, body: Array(body.payload.utf8))
    } catch {
      throw SendAPI.unreachable
    }
    return Response(SendAPI.record(answer))
  }

  private static let unreachable = Problem(
    503, "Service Unavailable",
    "the gateway did not answer its own request: look for the push in the log, and try again")

  /// Returns the header fields of a push.
  ///
  /// - Throws: 400 for a text that no header field can have.
  private static func fields(of body: PushSendRequest) throws(Problem) -> [(HeaderName, String)] {
    let type = body.pushType ?? PushType.split(topic: body.topic).type?.rawValue ?? PushType.alert.rawValue
    let all: [(HeaderName, String?)] = [
      (.apnsTopic, body.topic), (.apnsPushType, type), (.apnsPriority, body.priority.map(String.init)),
      (.apnsCollapseID, body.collapseID), (.apnsExpiration, body.expiration.map { String($0) }),
      (.apnsDeliverAt, body.deliverAt.map { String($0) }), (.apnsID, body.id),
    ]
    let fields = all.compactMap { name, value in value.map { (name, $0) } }
    for (name, value) in fields where !value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
      throw .badRequest("invalid \(name.wireName): expected printable ASCII characters")
    }
    return fields
  }

  /// Returns a signer with a key of the app's team whose private half is in the state folder.
  ///
  /// - Throws: 409 if there is none.
  private func signer(for app: App) throws(Problem) -> ProviderTokenSigner {
    for key in registrations.keys where permits(key, app) {
      guard let pem = FileManager.default.contents(atPath: "\(folder.path)/AuthKey_\(key.id).p8"),
        let read = try? ES256Key(privatePEM: Array(pem))
      else { continue }
      return ProviderTokenSigner(key: read, keyID: key.id, teamID: key.team)
    }
    let team = app.team.map { " of team \($0)" } ?? ""
    throw Problem(
      409, "Conflict",
      "the gateway has no private key\(team) for \(app.topic): copy AuthKey_KEYID.p8 to \(folder.path), or use "
        + "`pushcli send --key`")
  }

  private func permits(_ key: ProviderKey, _ app: App) -> Bool {
    if let team = app.team, team != key.team { return false }
    if let only = key.environment, only != environment { return false }
    return key.topics?.contains(app.topic) ?? true
  }

  private static func record(_ answer: Client.Answer) -> PushSendRecord {
    var record = PushSendRecord(status: answer.status, id: answer.apnsID, uniqueID: answer.apnsUniqueID)
    guard let refusal = ProviderRefusal(answer) else { return record }
    record.reason = refusal.reason
    record.message = refusal.policy?.message ?? Reason(rawValue: refusal.reason)?.advice
    (record.rule, record.at) = (refusal.policy?.rule, refusal.policy?.at)
    return record
  }

  // MARK: Checking

  private func check(_ request: ControlRequest) throws -> Response {
    let body: PushCheckRequest = try request.decoded()
    let payload = Array(body.payload.utf8)
    let type = body.pushType.flatMap { PushType(rawValue: $0) } ?? .alert
    let lint = PayloadLint(maximumSize: type.maximumPayloadSize) { $0.count }
    var record = PushCheckRecord(findings: lint.findings(in: payload).map { PushCheckRecord.Finding($0) })
    guard let name = body.device, let topic = body.topic else { return Response(record) }
    let device = try registrations.device(named: name)
    let app = try registrations.app(topic: PushType.split(topic: topic).bundleID)
    // The findings describe a payload that can't be read.
    guard let content = try? PayloadReader(parser: JSONParser()).content(of: payload) else { return Response(record) }
    decide(content, device, app, &record)
    return Response(record)
  }

  /// Adds the decision of a device at the present time, as at the delivery, and the violations for which the gateway would
  /// refuse the push.
  private func decide(_ content: PushContent, _ device: Device, _ app: App, _ record: inout PushCheckRecord) {
    let (now, ads) = (clock.milliseconds(), AdFilter())
    var refused: [PushCheckRecord.Violation] = []
    if app.policyMode == .enforce {
      var violations = content.parsed.violations
      if app.ads == .refuse,
        let violation = ads.violation(content, of: app, for: registrations.preferences(of: device.id))
      {
        violations.append(violation)
      }
      refused = violations.map {
        PushCheckRecord.Violation(rule: $0.rule.rawValue, at: $0.pointer, message: $0.message)
      }
    }
    if app.isStrict {
      refused += content.parsed.faults.map {
        PushCheckRecord.Violation(rule: Rejection.schemaRule, at: $0.pointer, message: $0.message)
      }
    }
    record.refused = refused.isEmpty ? nil : refused
    var random = SystemRandomNumberGenerator()
    let id = APNSID(using: &random)
    let push = StoredPush(
      device: device.id, app: app.id, id: id, isSenderID: false, uniqueID: id, received: now, expires: now / 1000 + 1,
      priority: 10, collapseID: "", payload: content.payload, content: content)
    guard let decision = recipients.forecast(push, on: device.id, app, at: now, ads: ads) else { return }
    record.presented = decision.presented
    record.center = decision.center
    record.removed = decision.removed?.map {
      PushCheckRecord.Removed(part: $0.part, rule: $0.rule, setting: $0.setting, reason: $0.reason)
    }
  }
}

extension PushCheckRecord.Finding {
  fileprivate init(_ finding: LintFinding) {
    self.init(
      at: finding.pointer, rule: finding.rule.rawValue, severity: finding.severity.rawValue, message: finding.message,
      advice: finding.advice.isEmpty ? nil : finding.advice, fix: finding.fix)
  }
}
