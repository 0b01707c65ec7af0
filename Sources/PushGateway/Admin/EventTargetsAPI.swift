import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The routes `/admin/v1/event-targets…`: servers that get the events of the delivery log. Only administrators may name
/// them, because the gateway sends requests to them, with names of users.
struct EventTargetsAPI: Sendable {
  let registrations: any Registrations
  let senders: EventSenders
  let clock: WallClock

  var routes: [Router.Route] {
    let targets = senders.targets
    return [
      .init("GET", .eventTargets, .admin) { request in
        Response(rows: try ListsAPI.page(request, targets.list, \.name).map(record))
      },
      .init("POST", .eventTargets, .admin, add),
      .init("POST", .eventTargetSecret, .admin) { request in
        let (name, secret) = (request.parameters[0], WebhookSignature.makeSecret())
        try await targets.rotate(name, secret: secret, at: clock.milliseconds())
        return Response(CreatedEventTarget(name: name, secret: secret), status: 201)
      },
      .init("POST", .eventTargetTest, .admin) { request in
        Response(await test(try targets.target(named: request.parameters[0])))
      },
      .empty("POST", .eventTargetResume, .admin) { try await targets.resume($0.parameters[0]) },
      .empty("DELETE", .eventTarget, .admin) { try await targets.remove($0.parameters[0]) },
    ]
  }

  private func add(_ request: ControlRequest) async throws -> Response {
    let body: EventTargetRequest = try request.decoded()
    _ = try EventURL(body.url)
    let ca = body.ca ?? ""
    guard ca.utf8.count <= Limits.maximumEventAuthoritySize else {
      let size = Limits.maximumEventAuthoritySize >> 10
      throw Problem.badRequest("invalid certificates of an event target: expected PEM of at most \(size) KiB")
    }
    if !ca.isEmpty {
      do {
        _ = try await GatewayBackend.onThread {
          try TLSContext.client(trustPath: SystemTrust.path, adding: Array(ca.utf8))
        }
      } catch {
        throw Problem.badRequest("invalid certificates of an event target: \(error)")
      }
    }
    guard body.apps.map({ (1...Limits.maximumEventTargetApps).contains($0.count) }) ?? true else {
      throw Problem.badRequest("invalid apps: expected 1 to \(Limits.maximumEventTargetApps) topics")
    }
    let apps = try body.apps?.map { try registrations.app(topic: $0).id }
    let target = EventTarget(
      name: body.name, url: body.url, apps: apps, events: try events(body.events),
      secret: WebhookSignature.makeSecret(), authority: ca.isEmpty ? nil : ca,
      created: clock.milliseconds())
    try await senders.targets.add(target)
    return Response(CreatedEventTarget(name: target.name, secret: target.secret), status: 201)
  }

  private func events(_ names: [String]?) throws(Problem) -> Set<DeliveryEvent>? {
    guard let names else { return nil }
    guard !names.isEmpty else { throw .badRequest("invalid events: expected at least one") }
    var events: Set<DeliveryEvent> = []
    for name in names {
      guard let event = DeliveryEvent(rawValue: name) else {
        let known = DeliveryEvent.allCases.map(\.rawValue).joined(separator: ", ")
        throw .badRequest("unknown event \"\(name.prefix(32))\": expected one of \(known)")
      }
      events.insert(event)
    }
    return events
  }

  private func test(_ target: EventTarget) async -> EventTargetTestRecord {
    let start = ContinuousClock.now
    func milliseconds() -> Int { Int((ContinuousClock.now - start) / .milliseconds(1)) }
    do {
      let answer = try await senders.test(target)
      return EventTargetTestRecord(
        status: answer.status, answer: String(decoding: answer.body, as: UTF8.self), milliseconds: milliseconds())
    } catch {
      return EventTargetTestRecord(error: "\(error)", milliseconds: milliseconds())
    }
  }

  private func record(_ target: EventTarget) -> EventTargetRecord {
    var record = EventTargetRecord(
      name: target.name, url: target.url,
      apps: target.apps?.compactMap { registrations.app($0)?.topic }, events: target.events?.map(\.rawValue).sorted(),
      created: Timestamp.text(target.created))
    record.disabled = target.disabled.map { Timestamp.text($0) }
    let state = senders.state(of: target)
    record.lastSent = state?.delivered.map { Timestamp.text($0) }
    record.late = state?.oldest.map { Timestamp.text($0) }
    (record.error, record.skipped) = (state?.error, state?.skipped)
    return record
  }
}

/// An event target as lists show it, with its state at the gateway that answers.
struct EventTargetRecord: Codable, Sendable {
  var name: String
  /// The address of the server.
  var url: String
  /// The topics of the apps whose events are sent, without removed ones; nil: all apps.
  var apps: [String]?
  /// The events to send; nil: all events.
  var events: [String]?
  /// The time at which it was created, RFC 3339, UTC.
  var created: String
  /// The time at which it answered 410, RFC 3339, UTC; nil while it is in use.
  var disabled: String?
  /// The time of the last accepted request since the start of the gateway, RFC 3339, UTC; nil: none yet.
  var lastSent: String?
  /// The time of the oldest event that it has not accepted, RFC 3339, UTC; nil if no request fails.
  var late: String?
  /// The last error; nil if no request fails.
  var error: String?
  /// The number of events that were removed before it accepted them; nil if it is unknown.
  var skipped: Int64?

  enum CodingKeys: String, CodingKey {
    case name, url, apps, events, created, disabled, late, error, skipped
    case lastSent = "last_sent"
  }
}
