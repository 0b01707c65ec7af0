import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// Implements `POST /send/NAME`, which Apple does not have: a message of a sender with a bearer token.
///
/// ``SentMessage`` decodes it to a payload. Then each recipient's registration takes the checks, the policy and the
/// storage of a provider's push.
extension ProviderAPI {
  /// Serves a message or a heartbeat of a sender.
  func serveSender(_ exchange: Exchange) {
    guard exchange.request.has(.path, beginningWith: Paths.heartbeats) else { return serveMessage(exchange) }
    serveHeartbeat(exchange)
  }

  /// Serves one message; the response is sent after the pushes of all recipients are on disk.
  func serveMessage(_ exchange: Exchange) {
    let now = parts.clock.milliseconds()
    do throws(MessageRefusal) {
      let sender = try messageSender(of: exchange, now: now)
      let message = try SentMessage(
        exchange.request.body, contentType: exchange.request.text(.contentType), parser: shared.parser, now: now / 1000)
      try send(message, of: sender, exchange, now: now)
    } catch {
      exchange.respond(error.response)
    }
  }

  /// Authenticates a request, and counts it against the rate of its sender.
  private func messageSender(of exchange: Exchange, now: Int64) throws(MessageRefusal) -> MessageSender {
    let request = exchange.request
    guard request.has(.method, "POST") else {
      throw MessageRefusal(405, "MethodNotAllowed", "send the message with the method POST")
    }
    if request.hasDuplicateFields {
      throw MessageRefusal(400, "DuplicateHeaders", "a header field of this request occurs twice: send each field once")
    }
    let control = ControlRequest(request, from: connection.peer)
    let sender = try sender(
      String(control.path.dropFirst(Paths.messages.utf8CodeUnitCount)), token: control.bearer, of: exchange, now: now)
    guard request.bodySize <= Limits.maximumMessageSize else {
      shared.meter.reached(.bodySize)
      throw SentMessage.tooLarge
    }
    return sender
  }

  /// Authenticates a request with the token of a sender, and counts it against the sender's rate.
  func sender(
    _ name: String, token: String?, of exchange: Exchange, now: Int64
  ) throws(MessageRefusal) -> MessageSender {
    let (connection, access) = (exchange.connection, parts.messages)
    guard let token, let sender = access.senders.find(name, token: token, now: now / 1000) else {
      guard access.countFailure(from: connection.source, at: now) else {
        shared.meter.reached(.failedAuthentications)
        throw MessageRefusal(
          429, "TooManyRequests", "too many rejected tokens from this address: try again in a minute", retryAfter: 60)
      }
      throw .unauthorized
    }
    connection.allowAllStreams()
    connection.authenticated(as: .provider)
    if let wait = access.excess(sender, at: now) {
      shared.meter.reached(.rate)
      throw MessageRefusal(
        429, "TooManyRequests", "the sender \(name) may send \(sender.rate) messages in a minute", retryAfter: wait)
    }
    return sender
  }

  private func send(
    _ message: SentMessage, of sender: MessageSender, _ exchange: Exchange, now: Int64
  ) throws(MessageRefusal) {
    guard let app = parts.registrations.app(sender.app) else {
      throw MessageRefusal(410, "AppRemoved", "the app of this sender was removed: `pushcli senders add` makes another")
    }
    // Requests whose stream was reset count as running, too: see GatewayHandler.
    guard exchange.connection.runningRequests < Limits.maximumConcurrentStreams else {
      throw MessageRefusal(Rejection(.tooManyRequests))
    }
    let (push, repeats) = try template(message, of: sender, app, exchange, now: now)
    let environment = exchange.connection.environment
    var answer = MessageAnswer(id: push.id.description)
    answer.times = repeats.flatMap { $0.count > 1 ? $0.count : nil }
    answer.deliverAt = message.deliverAt.map { Timestamp.text(seconds: $0, .seconds) }
    let faults = (push.content?.parsed.faults ?? []).map(\.message)
    let ignored = (push.content?.parsed.violations ?? []).map(\.message) + faults
    answer.ignored = ignored.isEmpty ? nil : ignored
    var parcels: [Parcel] = []
    var refusal: MessageRefusal?
    var space = Limits.maximumAnsweredDevices
    for recipient in sender.recipients {
      var entry = MessageAnswer.Recipient(recipient: name(of: recipient, environment))
      do throws(MessageRefusal) {
        let parcel = try parcel(push, to: recipient, app, environment, isLater: message.deliverAt != nil)
        let listed = parcel.devices.prefix(space)
        space -= listed.count
        let time = message.deliverAt.map { $0 * 1000 } ?? now
        entry.devices = listed.compactMap { forecast(parcel.push, on: $0, app, at: time) }
        entry.more = parcel.devices.count > listed.count ? parcel.devices.count - listed.count : nil
        parcels.append(parcel)
      } catch {
        entry.refused = error
        refusal = refusal ?? error
      }
      answer.recipients.append(entry)
    }
    guard !parcels.isEmpty else {
      parts.messages.uncount(repeats)
      throw refusal
        ?? MessageRefusal(
          409, "NoRecipient", "all recipients of this sender were removed: `pushcli senders add` makes another")
    }
    store(parcels, answer, repeats, at: message.deliverAt, team: app.team, exchange)
  }

  // MARK: Pushes

  /// A push to one recipient.
  private struct Parcel: Sendable {
    var push: StoredPush
    /// The present members' devices of a group; nil for a device.
    var members: [GroupDelivery.Recipient]?

    var devices: [DeviceID] { members?.map(\.device) ?? [push.device] }
  }

  /// Returns the push of a message, without its device, and its number among equal messages.
  private func template(
    _ message: SentMessage, of sender: MessageSender, _ app: App, _ exchange: Exchange, now: Int64
  ) throws(MessageRefusal) -> (StoredPush, MessageRepeats.Found?) {
    let given = exchange.request.id
    guard given != nil || exchange.request.bytes(.apnsID) == nil else { throw .badMessage("apns-id: expected a UUID") }
    var random = SystemRandomNumberGenerator()
    let id = given ?? APNSID(using: &random)
    let isNow = message.deliverAt == nil
    let repeats = isNow ? parts.messages.combine(message.payload, id: id, of: sender, at: now) : nil
    let content: PushContent
    do {
      content = try shared.payloads.content(of: message.payload(times: repeats?.count ?? 1))
    } catch {
      parts.messages.uncount(repeats)
      throw .badMessage("the message can't be read")
    }
    let push = StoredPush(
      device: DeviceID(row: 0), app: app.id, id: id, isSenderID: given != nil, uniqueID: APNSID(using: &random),
      received: now, expires: now / 1000 + Int64(Limits.maximumLifetime), priority: 10,
      collapseID: repeats?.collapseID ?? "", payload: content.payload, content: content)
    return (push, repeats)
  }

  private func name(of recipient: MessageSender.Recipient, _ environment: Environment) -> String {
    switch recipient {
    case .device(let device): parts.registrations.device(device)?.name ?? "a removed device"
    case .group(let group):
      parts.groups.group(at: GroupAddress(group: group, environment: environment).device)?.name ?? "a removed group"
    }
  }

  /// Returns the registration of a recipient that is in use.
  private func registration(
    of recipient: MessageSender.Recipient, _ app: App, _ environment: Environment, now: Int64
  ) -> Registration? {
    let all: [Registration]
    switch recipient {
    case .device(let device): all = parts.registrations.registrations(of: device).map(\.0)
    case .group(let group):
      let address = GroupAddress(group: group, environment: environment).device
      all = parts.groups.group(at: address).map { parts.groups.registrations(of: $0) } ?? []
    }
    return all.first { $0.app == app.id && $0.environment == environment && !$0.isExpired(at: now) }
  }

  /// Applies the checks of a provider's push for one recipient. A refusal has a row in the delivery log.
  ///
  /// - Parameter isLater: true if the members of a group are checked at the delivery.
  private func parcel(
    _ template: StoredPush, to recipient: MessageSender.Recipient, _ app: App, _ environment: Environment,
    isLater: Bool
  ) throws(MessageRefusal) -> Parcel {
    let now = template.received
    guard let registration = registration(of: recipient, app, environment, now: now) else {
      throw MessageRefusal(
        409, "NotRegistered",
        "the recipient is not registered for \(app.topic) in \(environment.rawValue): `pushcli devices register`, or "
          + "`groups register`, does it")
    }
    let push = template.copy(to: registration.device)
    do throws(Rejection) {
      try allow(registration.token, app, of: nil, now: now)
      guard let content = push.content else { return Parcel(push: push) }
      try admit(content, id: push.id, push.device, app, now: now)
      guard push.device.isGroup else {
        try admit(advertising: content, id: push.id, push.device, app, now: now)
        return Parcel(push: push)
      }
      let delivery = GroupDelivery(groups: parts.groups, registrations: parts.registrations)
      let all = delivery.recipients(of: push.device, app: app.id, now: now)
      if isLater { return Parcel(push: push, members: all) }
      let members = try admit(push, to: all)
      if parts.senderRates.boundsSenders {
        parts.senderRates.charge(app.id, of: app.team, copies: members.count - 1, at: now)
      }
      return Parcel(push: push, members: members)
    } catch {
      shared.meter.refuse(error.reason)
      let refusal = DeliveryDetail.Refusal(
        status: error.status, reason: error.reason.rawValue, topic: app.topic, finding: error.finding)
      shared.log.append(push.event(.refused, at: now, detail: .refusal(refusal)))
      throw MessageRefusal(error)
    }
  }

  /// Returns the decision that a device would get at a time, in milliseconds since 1970; nil for a removed device.
  private func forecast(
    _ push: StoredPush, on device: DeviceID, _ app: App, at time: Int64
  ) -> MessageAnswer.Device? {
    guard let content = push.content, let name = parts.registrations.device(device)?.name else { return nil }
    let (registrations, conditions) = (parts.registrations, parts.conditions)
    let preferences = registrations.preferences(of: device)
    let decider = Decider(
      preferences: preferences, device: conditions.state(of: device), isCatchingUp: false, now: time)
    let decision = decider.decide(
      push, content, of: app, ads: shared.ads,
      recentAlerts: { conditions.recentAlerts(on: device, at: time).count { $0.app == app.id && $0.id != push.id } },
      actions: { registrations.actions(of: app.id, $0) }, isQuestion: { registrations.isQuestion(app.id, $0) })
    return MessageAnswer.Device(decision, preferences, device: name)
  }

  // MARK: Storage

  /// Stores or schedules the pushes, and answers when all are on disk.
  private func store(
    _ parcels: [Parcel], _ answer: MessageAnswer, _ repeats: MessageRepeats.Found?, at time: Int64?, team: String?,
    _ exchange: Exchange
  ) {
    let detail = answer.times.map { DeliveryDetail.repeated($0) } ?? .nothing
    let later = NIOLoopBound((self, exchange.reference), eventLoop: exchange.connection.loop.eventLoop)
    exchange.connection.runningRequests += 1
    let collected = CollectedOutcomes(count: parcels.count) { failure in
      later.eventLoop.execute {
        let (api, reference) = later.value
        reference.connection.runningRequests -= 1
        if failure != nil { api.parts.messages.uncount(repeats) }
        if let exchange = reference.exchange { api.answer(exchange, answer, failure) }
      }
    }
    for parcel in parcels {
      if let time {
        parts.schedule.add(ScheduledPush(parcel.push, at: time * 1000, expires: nil, team: team)) { outcome in
          switch outcome {
          case .success(.stored), .success(.duplicate): collected.add(nil)
          case .success(.full): collected.add(.tooManyRequests)
          case .failure: collected.add(.serviceUnavailable)
          }
        }
      } else if let members = parcel.members {
        store(parcel.push, for: members, detail, collected)
      } else {
        let (push, destinations) = (parcel.push, destinations)
        destinations.mailbox.append([push]) { outcomes in
          let stored = Dispatcher.record([push], outcomes, detail, in: destinations)
          collected.add(outcomes.ofAll.failure)
          Dispatcher.deliver(stored, to: destinations)
        }
      }
    }
  }

  private func store(
    _ push: StoredPush, for members: [GroupDelivery.Recipient], _ detail: DeliveryDetail, _ collected: CollectedOutcomes
  ) {
    guard !members.isEmpty else {
      parts.log.append([
        push.event(.accepted, at: push.received),
        push.event(.dropped, at: push.received, detail: .fact(.nobodyRegistered)),
      ])
      return collected.add(nil)
    }
    let delivery = GroupDelivery(groups: parts.groups, registrations: parts.registrations)
    let isTaken = delivery.store(push, for: members, detail, in: parts.groupPushes, destinations) { outcome in
      collected.add(outcome.failure)
    }
    guard !isTaken else { return }
    shared.meter.reached(.groupPushes)
    collected.add(.tooManyRequests)
  }

  private func answer(_ exchange: Exchange, _ answer: MessageAnswer, _ failure: Reason?) {
    if let failure {
      shared.meter.refuse(failure)
      return exchange.respond(MessageRefusal(Rejection(failure)).response)
    }
    shared.meter.accept(.stored)
    exchange.respond(Response(answer))
  }
}

/// The outcomes of the pushes of one message.
private final class CollectedOutcomes: Sendable {
  private let state: Mutex<(left: Int, failure: Reason?)>
  private let done: @Sendable (Reason?) -> Void

  /// - Parameters:
  ///   - count: the number of pushes, at least 1.
  ///   - done: called once after the last outcome, with the reason of a failure.
  init(count: Int, done: @escaping @Sendable (Reason?) -> Void) {
    state = Mutex((left: count, failure: nil))
    self.done = done
  }

  /// Adds the outcome of one push; nil if it is stored.
  func add(_ failure: Reason?) {
    let last = state.withLock { state -> (isLast: Bool, failure: Reason?) in
      state.left -= 1
      state.failure = state.failure ?? failure
      return (state.left == 0, state.failure)
    }
    if last.isLast { done(last.failure) }
  }
}

extension AppendOutcome {
  /// The reason for a push that is not stored; nil for a stored one.
  fileprivate var failure: Reason? {
    switch self {
    case .queued, .duplicate: nil
    case .unavailable: .serviceUnavailable
    case .failed: .internalServerError
    }
  }
}
