import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// Implements `POST /send/NAME` and `POST /hooks/NAME`, which Apple does not have: a message of a sender with a bearer
/// token, and a webhook.
///
/// ``SentMessage`` decodes it to a payload. Then each recipient's registration takes the checks, the policy and the
/// storage of a provider's push.
extension ProviderAPI {
  /// Serves one request; the response is sent after the pushes of all recipients are on disk.
  func serveMessage(_ exchange: Exchange) {
    let now = parts.clock.milliseconds()
    do throws(MessageRefusal) {
      let sender = try messageSender(of: exchange, now: now)
      if let hook = sender.hook { return try serve(hook, of: sender, exchange, now: now) }
      let message = try SentMessage(
        exchange.request.body, contentType: exchange.request.text(.contentType), parser: shared.parser, now: now / 1000)
      try send(message, of: sender, about: nil, exchange, now: now)
    } catch {
      exchange.respond(error.response)
    }
  }

  /// Authenticates a request, and counts it against the rate of its sender.
  private func messageSender(of exchange: Exchange, now: Int64) throws(MessageRefusal) -> MessageSender {
    let (request, connection, access) = (exchange.request, exchange.connection, parts.messages)
    guard request.has(.method, "POST") else {
      throw MessageRefusal(405, "MethodNotAllowed", "send the message with the method POST")
    }
    if request.hasDuplicateFields {
      throw MessageRefusal(400, "DuplicateHeaders", "a header field of this request occurs twice: send each field once")
    }
    guard request.bodySize <= request.maximumBodySize else {
      shared.meter.reached(.bodySize)
      throw MessageRefusal(
        413, "MessageTooLarge", "the message is too large: expected at most \(request.maximumBodySize) bytes")
    }
    let control = ControlRequest(request, from: connection.peer)
    let prefix = request.isForHook ? Paths.hooks : Paths.messages
    let name = String(control.path.dropFirst(prefix.utf8CodeUnitCount))
    let found =
      request.isForHook
      ? hook(name, control, request, now: now)
      : control.bearer.flatMap { access.senders.find(name, token: $0, now: now / 1000) }
    guard let sender = found, (sender.hook != nil) == request.isForHook else {
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

  /// Sends a message to the recipients of its sender.
  ///
  /// - Parameter subject: the subject of a webhook's message, which replaces the last one about it; nil for none.
  func send(
    _ message: SentMessage, of sender: MessageSender, about subject: String?, _ exchange: Exchange, now: Int64
  ) throws(MessageRefusal) {
    guard let app = parts.registrations.app(sender.app) else {
      throw MessageRefusal(410, "AppRemoved", "the app of this sender was removed: `pushcli senders add` makes another")
    }
    // Requests whose stream was reset count as running, too: see GatewayHandler.
    guard exchange.connection.runningRequests < Limits.maximumConcurrentStreams else {
      throw MessageRefusal(Rejection(.tooManyRequests))
    }
    let push = try template(message, app, exchange, collapseID: subject ?? "", now: now)
    let environment = exchange.connection.environment
    var answer = MessageAnswer(id: push.id.description)
    answer.deliverAt = message.deliverAt.map { Timestamp.text(seconds: $0, .seconds) }
    let faults = (push.content?.parsed.faults ?? []).map(\.message)
    let ignored = (push.content?.parsed.violations ?? []).map(\.message) + faults
    answer.ignored = ignored.isEmpty ? nil : ignored
    var parcels: [Parcel] = []
    var refusal: MessageRefusal?
    var space = Limits.maximumAnsweredDevices
    for recipient in sender.recipients {
      var entry = MessageAnswer.Recipient(recipient: recipients.name(of: recipient, environment))
      do throws(MessageRefusal) {
        let parcel = try parcel(push, to: recipient, app, environment, isLater: message.deliverAt != nil)
        let listed = parcel.devices.prefix(space)
        space -= listed.count
        let time = message.deliverAt.map { $0 * 1000 } ?? now
        entry.devices = listed.compactMap { recipients.forecast(parcel.push, on: $0, app, at: time, ads: shared.ads) }
        entry.more = parcel.devices.count > listed.count ? parcel.devices.count - listed.count : nil
        parcels.append(parcel)
      } catch {
        entry.refused = error
        refusal = refusal ?? error
      }
      answer.recipients.append(entry)
    }
    guard !parcels.isEmpty else {
      throw refusal
        ?? MessageRefusal(
          409, "NoRecipient", "all recipients of this sender were removed: `pushcli senders add` makes another")
    }
    guard let subject else { return store(parcels, answer, at: message.deliverAt, team: app.team, exchange) }
    replace(push.id, about: subject, of: sender, exchange, now: now) { api, exchange in
      api.store(parcels, answer, at: nil, team: app.team, exchange)
    }
  }

  private var recipients: MessageRecipients {
    MessageRecipients(registrations: parts.registrations, groups: parts.groups, conditions: parts.conditions)
  }

  // MARK: Pushes

  /// A push to one recipient.
  private struct Parcel: Sendable {
    var push: StoredPush
    /// The present members' devices of a group; nil for a device.
    var members: [GroupDelivery.Recipient]?

    var devices: [DeviceID] { members?.map(\.device) ?? [push.device] }
  }

  /// Returns the push of a message, without its device.
  private func template(
    _ message: SentMessage, _ app: App, _ exchange: Exchange, collapseID: String, now: Int64
  ) throws(MessageRefusal) -> StoredPush {
    let content: PushContent
    do {
      content = try shared.payloads.content(of: message.payload)
    } catch {
      throw .badMessage("the message can't be read")
    }
    let given = exchange.request.id
    guard given != nil || exchange.request.bytes(.apnsID) == nil else { throw .badMessage("apns-id: expected a UUID") }
    var random = SystemRandomNumberGenerator()
    return StoredPush(
      device: DeviceID(row: 0), app: app.id, id: given ?? APNSID(using: &random), isSenderID: given != nil,
      uniqueID: APNSID(using: &random), received: now, expires: now / 1000 + Int64(Limits.maximumLifetime),
      priority: 10, collapseID: collapseID, payload: content.payload, content: content)
  }

  /// Applies the checks of a provider's push for one recipient. A refusal has a row in the delivery log.
  ///
  /// - Parameter isLater: true if the members of a group are checked at the delivery.
  private func parcel(
    _ template: StoredPush, to recipient: MessageSender.Recipient, _ app: App, _ environment: Environment,
    isLater: Bool
  ) throws(MessageRefusal) -> Parcel {
    let now = template.received
    let registration = try recipients.registration(of: recipient, app, environment, now: now)
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

  // MARK: Storage

  /// Stores or schedules the pushes, and answers when all are on disk.
  private func store(
    _ parcels: [Parcel], _ answer: MessageAnswer, at time: Int64?, team: String?, _ exchange: Exchange
  ) {
    let later = NIOLoopBound((self, exchange.reference), eventLoop: exchange.connection.loop.eventLoop)
    exchange.connection.runningRequests += 1
    let collected = CollectedOutcomes(count: parcels.count) { failure in
      later.eventLoop.execute {
        let (api, reference) = later.value
        reference.connection.runningRequests -= 1
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
        store(parcel.push, for: members, collected)
      } else {
        let (push, destinations) = (parcel.push, destinations)
        destinations.mailbox.append([push]) { outcomes in
          let stored = Dispatcher.record([push], outcomes, in: destinations)
          collected.add(outcomes.ofAll.failure)
          Dispatcher.deliver(stored, to: destinations)
        }
      }
    }
  }

  private func store(_ push: StoredPush, for members: [GroupDelivery.Recipient], _ collected: CollectedOutcomes) {
    guard !members.isEmpty else {
      parts.log.append([
        push.event(.accepted, at: push.received),
        push.event(.dropped, at: push.received, detail: .fact(.nobodyRegistered)),
      ])
      return collected.add(nil)
    }
    let delivery = GroupDelivery(groups: parts.groups, registrations: parts.registrations)
    let isTaken = delivery.store(push, for: members, in: parts.groupPushes, destinations) { outcome in
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
