import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The routes `/admin/v1/senders…`: senders of messages, which have a token instead of a key. Some are webhooks.
struct SendersAPI: Sendable {
  let registrations: any Registrations
  let groups: Groups
  let senders: MessageSenders
  /// Reads bodies of webhooks without sending.
  let test: HookTest
  let clock: WallClock

  var routes: [Router.Route] {
    [
      .init("GET", .senders, .reader) { request in
        let isForHooks = request.query["hooks"] != nil
        let listed = senders.list.filter { !isForHooks || $0.hook != nil }
        return Response(rows: try ListsAPI.page(request, listed, \.name).map(record))
      },
      .init("POST", .senders, .admin, add),
      .init("POST", .senderToken, .admin) { request in
        let token = SenderTokenText.make()
        let sender = try await senders.rotate(request.parameters[0], token: token)
        return Response(CreatedSender(name: sender.name, token: token, kind: sender.hook?.kind.rawValue), status: 201)
      },
      .init("POST", .senderTest, .operator) { request in
        let body: HookTestRequest = try request.decoded()
        let sender = try senders.sender(named: request.parameters[0])
        guard let hook = sender.hook else {
          throw Problem(
            409, "Conflict", "\(sender.name) is a sender of messages, not a webhook: `pushcli hooks` shows webhooks")
        }
        do throws(MessageRefusal) {
          return Response(try test.read(Array(body.body.utf8), hook, of: sender))
        } catch {
          throw Problem(error.status, error.reason, error.message)
        }
      },
      .empty("DELETE", .sender, .admin) { try await senders.remove($0.parameters[0]) },
    ]
  }

  private func add(_ request: ControlRequest) async throws -> Response {
    let body: SenderRequest = try request.decoded()
    let app = try registrations.app(topic: body.app)
    let rate = body.rate ?? Limits.standardMessageRate
    guard (1...Limits.maximumMessageRate).contains(rate) else {
      throw Problem.badRequest(
        "invalid rate of a sender: expected 1 to \(Limits.maximumMessageRate) messages in a minute")
    }
    guard body.combine.map({ (1...Limits.maximumCombineTime).contains($0) }) ?? true else {
      throw Problem.badRequest("invalid time for equal messages of a sender: expected 1 second to 7 days")
    }
    guard (1...Limits.maximumMessageRecipients).contains(body.recipients.count) else {
      throw Problem.badRequest(
        "invalid recipients of a sender: expected 1 to \(Limits.maximumMessageRecipients) devices or groups")
    }
    var recipients: [MessageSender.Recipient] = []
    for name in body.recipients {
      let recipient = try recipient(named: name, app)
      if !recipients.contains(recipient) { recipients.append(recipient) }
    }
    let token = SenderTokenText.make()
    let sender = MessageSender(
      name: body.name, app: app.id, recipients: recipients, rate: rate, created: clock.milliseconds(),
      combine: body.combine.map { Int64($0) }, hook: try hook(body))
    try await senders.add(sender, token: token)
    return Response(CreatedSender(name: sender.name, token: token, kind: body.kind), status: 201)
  }

  private func hook(_ body: SenderRequest) throws(Problem) -> Hook? {
    guard let name = body.kind else {
      guard body.fields == nil else { throw .badRequest("fields: expected only with the kind json") }
      return nil
    }
    guard let kind = HookKind(rawValue: name) else {
      let kinds = HookKind.allCases.map(\.rawValue).joined(separator: ", ")
      throw .badRequest("unknown kind \(name.prefix(32)) of a webhook: expected \(kinds)")
    }
    guard body.combine == nil else {
      throw .badRequest("combine: expected only for a sender of messages; a webhook combines messages by their subject")
    }
    guard (body.fields != nil) == (kind == .json) else {
      throw .badRequest("fields: the kind json needs them, as title=/monitor/name, and no other kind has them")
    }
    for (field, pointer) in body.fields ?? [:] {
      guard WebhookFormat.fieldNames.contains(field) else {
        let names = WebhookFormat.fieldNames.joined(separator: ", ")
        throw .badRequest("unknown field \(field.prefix(32)) of a webhook: expected \(names)")
      }
      guard pointer.isEmpty || pointer.hasPrefix("/"), pointer.utf8.count <= Limits.maximumPointerSize else {
        throw .badRequest(
          "\(field): expected a JSON pointer, as /monitor/name, of at most \(Limits.maximumPointerSize) bytes")
      }
    }
    return Hook(kind, fields: body.fields)
  }

  /// Returns the device, else the group, with a name.
  ///
  /// - Throws: a refusal if it is not registered for the app. A registered group also keeps its number after its
  ///   removal, so that no later group becomes a recipient.
  private func recipient(named name: String, _ app: App) throws -> MessageSender.Recipient {
    if let group = groups.find(name), (try? registrations.device(named: name)) == nil {
      guard groups.registrations(of: group).contains(where: { $0.app == app.id }) else {
        throw unregistered(name, app, "groups")
      }
      return .group(group.id)
    }
    let device = try registrations.device(named: name).id
    guard registrations.registrations(of: device).contains(where: { $0.0.app == app.id }) else {
      throw unregistered(name, app, "devices")
    }
    return .device(device)
  }

  private func unregistered(_ name: String, _ app: App, _ kind: String) -> RegistrationRefusal {
    RegistrationRefusal(
      kind: .conflict,
      description: "\(name) is not registered for \(app.topic): `pushcli \(kind) register \(name) \(app.topic)`")
  }

  private func record(_ sender: MessageSender) -> SenderRecord {
    let names = sender.recipients.compactMap { recipient -> String? in
      switch recipient {
      case .device(let device): registrations.device(device)?.name
      case .group(let group):
        groups.group(at: GroupAddress(group: group, environment: .development).device)?.name
      }
    }
    return SenderRecord(
      name: sender.name, app: registrations.app(sender.app)?.topic ?? "", recipients: names, rate: sender.rate,
      created: Timestamp.text(sender.created), lastUsed: sender.lastUsed.map { Timestamp.text(seconds: $0) },
      combine: sender.combine.map { Int($0) }, kind: sender.hook?.kind.rawValue, fields: sender.hook?.fields)
  }
}

/// A sender of messages as lists show it.
struct SenderRecord: Codable, Sendable {
  var name: String
  /// The topic of its app.
  var app: String
  /// The names of devices and groups, without removed ones.
  var recipients: [String]
  /// The maximum number of messages in a minute.
  var rate: Int
  /// The time at which it was created, RFC 3339, UTC.
  var created: String
  /// The hour of its last message, RFC 3339, UTC; nil: never.
  var lastUsed: String?
  /// The time in seconds in which equal messages become one; nil: each is a push of its own.
  var combine: Int?
  /// The service of a webhook; nil for a sender of messages.
  var kind: String?
  /// The JSON pointers to the fields of a message, by their names; nil except for the kind `json`.
  var fields: [String: String]?

  enum CodingKeys: String, CodingKey {
    case name, app, recipients, rate, created, combine, kind, fields
    case lastUsed = "last_used"
  }
}
