import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushPolicy
import PushStorage

/// Implements the paths for senders of messages, which Apple's API does not have.
///
/// `POST /send/NAME` is a message of a sender with a bearer token, also in the forms of ntfy and Gotify. `POST /hooks/NAME`
/// is the webhook of a service, `/beat/NAME` the heartbeat of a sender, and `/webpush/ID` the endpoint of a device for Web
/// Push. ``MessageDoor`` decodes a message to a payload. The push of each recipient then has the checks, the policy and
/// the storage of a provider's push.
extension ProviderAPI {
  /// Serves one request over HTTP/2.
  func serveMessage(_ exchange: Exchange, _ door: MessageDoor) {
    let (message, connection, reference) = (exchange.request, exchange.connection, exchange.reference)
    if message.hasDuplicateFields {
      return exchange.respond(door.response(to: .duplicateFields))
    }
    // Requests of reset streams also count as running: see GatewayHandler.
    guard connection.runningRequests < Limits.maximumConcurrentStreams else {
      return exchange.respond(door.response(to: MessageRefusal(Rejection(.tooManyRequests))))
    }
    connection.runningRequests += 1
    serve(
      MessageExchange(
        request: ControlRequest(messageOf: exchange), door: door,
        isTooLarge: message.bodySize > message.maximumBodySize,
        eventLoop: connection.loop.eventLoop,
        authenticated: {
          connection.allowAllStreams()
          connection.authenticated(as: .provider)
        },
        respond: { response in
          reference.connection.runningRequests -= 1
          reference.exchange?.respond(response)
        }))
  }

  /// Serves one request on its event loop; the response is sent after the pushes of all recipients are on disk.
  func serve(_ exchange: MessageExchange) {
    let now = parts.clock.milliseconds()
    do throws(MessageRefusal) {
      let sender = try messageSender(of: exchange, now: now)
      let content = try exchange.door.content(
        of: exchange.request, of: sender, parser: shared.parser, now: now / 1000)
      switch content {
      case .message(let message): try send(message, of: sender, exchange, now: now)
      case .heartbeat: recordHeartbeat(of: sender, exchange)
      case .account: exchange.respond(Response(NtfyAccount(sender)))
      case .ignored(let event): ignore(event, exchange)
      case .ended(let subject): takeBack(subject, of: sender, exchange)
      case .withdrawn(let id): withdraw(id, of: sender, exchange)
      case .receipt(let id): answerReceipt(id, of: sender, exchange)
      }
    } catch {
      exchange.respond(exchange.door.response(to: error))
    }
  }

  /// Authenticates a request, and counts it against the rate of its sender.
  private func messageSender(of exchange: MessageExchange, now: Int64) throws(MessageRefusal) -> MessageSender {
    let access = parts.messages
    try exchange.door.check(exchange.request)
    guard let sender = try authenticatedSender(of: exchange, now: now) else {
      throw counted(exchange.door == .webPush ? ProviderAPI.unknownEndpoint : .unauthorized, exchange, now: now)
    }
    exchange.authenticated()
    if let wait = access.excess(sender, at: now) {
      shared.meter.reached(.rate)
      throw MessageRefusal(
        429, "TooManyRequests", "the sender \(sender.name) may send \(sender.rate) messages in a minute",
        retryAfter: wait)
    }
    if parts.backend.cluster != nil, exchange.door.hasAttachment(exchange.request) {
      throw SentAttachment.unavailable
    }
    try checkSize(of: exchange)
    return sender
  }

  /// Counts a refused credential; returns its refusal, or another one if its address has exceeded the limit.
  func counted(_ refusal: MessageRefusal, _ exchange: MessageExchange, now: Int64) -> MessageRefusal {
    parts.messages.countFailure(from: exchange.request.source, at: now) ? refusal : tooManyFailures()
  }

  func tooManyFailures() -> MessageRefusal {
    shared.meter.reached(.failedAuthentications)
    return MessageRefusal(
      429, "TooManyRequests", "too many rejected tokens from this address: try again in a minute", retryAfter: 60)
  }

  /// Returns the sender that the credential of a request belongs to; nil if the sender may not use the form of the request.
  private func authenticatedSender(
    of exchange: MessageExchange, now: Int64
  ) throws(MessageRefusal) -> MessageSender? {
    let (request, door, senders) = (exchange.request, exchange.door, parts.messages.senders)
    guard let credential = door.credential(of: request) else { return nil }
    let name = door.name(of: request)
    let found: MessageSender?
    switch credential {
    case .token(let token): found = senders.find(name, token: token, now: now / 1000)
    case .signature(let signature):
      // A signature of an incomplete body can't be checked.
      try checkSize(of: exchange)
      found = senders.find(name ?? "", now: now / 1000) { signature.isValid(of: request.body, token: $0) }
    case .endpoint(let id): found = try endpointSender(id, exchange, now: now)
    }
    guard let found, door.admits(found, credential) else { return nil }
    return found
  }

  private func checkSize(of exchange: MessageExchange) throws(MessageRefusal) {
    guard exchange.isTooLarge else { return }
    shared.meter.reached(.bodySize)
    throw exchange.door.hasAttachment(exchange.request) ? SentAttachment.tooLarge : exchange.door.tooLarge
  }

  private func send(
    _ received: ReceivedMessage, of sender: MessageSender, _ exchange: MessageExchange, now: Int64
  ) throws(MessageRefusal) {
    let message = received.sent
    guard let app = parts.registrations.app(sender.app) else {
      throw MessageRefusal(410, "AppRemoved", "the app of this sender was removed: `pushcli senders add` makes another")
    }
    let (push, repeats) = try template(received, of: sender, app, exchange.request, now: now)
    let environment = exchange.request.environment
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
      parts.messages.uncount(repeats)
      throw refusal
        ?? MessageRefusal(
          409, "NoRecipient", "all recipients of this sender were removed: `pushcli senders add` makes another")
    }
    let times = answer.times
    let response = { @Sendable [answer] in received.response(answer, app: app.id, now: now) }
    let store = { [parcels] (api: ProviderAPI, exchange: MessageExchange) in
      api.store(
        parcels, times, repeats, message.attachment, at: message.deliverAt, team: app.team, exchange,
        response: response)
    }
    if let attachment = message.attachment {
      keep(
        attachment, of: sender, for: parcels.map(\.recipient), exchange, at: message.deliverAt ?? now / 1000,
        store: store)
    } else if let subject = received.subject {
      replace(push.id, about: subject, of: sender, exchange, now: now, store: store)
    } else {
      store(self, exchange)
    }
  }

  private var recipients: MessageRecipients {
    MessageRecipients(registrations: parts.registrations, groups: parts.groups, conditions: parts.conditions)
  }

  // MARK: Pushes

  /// A push to one recipient.
  private struct Parcel: Sendable {
    var push: StoredPush
    let recipient: MessageSender.Recipient
    /// The present members' devices of a group; nil for a device.
    var members: [GroupDelivery.Recipient]?

    var devices: [DeviceID] { members?.map(\.device) ?? [push.device] }
    /// True for a push that is only delivered to open streams.
    var isNeverStored: Bool { push.expires == 0 }
  }

  /// Returns the push of a message, without its device, and its number among equal messages.
  private func template(
    _ received: ReceivedMessage, of sender: MessageSender, _ app: App, _ request: ControlRequest, now: Int64
  ) throws(MessageRefusal) -> (StoredPush, MessageRepeats.Found?) {
    let message = received.sent
    // The id of a Web Push message is the secret part of its address.
    let text = sender.endpoint == nil ? request.fields["apns-id"] : nil
    let given = text.flatMap { APNSID($0) }
    guard given != nil || text == nil else { throw .badMessage("apns-id: expected a UUID") }
    var random = SystemRandomNumberGenerator()
    let id = given ?? APNSID(using: &random)
    // The id of an attachment makes each message unique.
    let isCombined = message.deliverAt == nil && message.attachment == nil
    let repeats = isCombined ? parts.messages.combine(message.payload, id: id, of: sender, at: now) : nil
    let content: PushContent
    do {
      content = try shared.payloads.content(of: message.payload(times: repeats?.count ?? 1))
    } catch {
      parts.messages.uncount(repeats)
      throw .badMessage("the message can't be read")
    }
    let push = StoredPush(
      device: DeviceID(row: 0), app: app.id, id: id, isSenderID: given != nil, uniqueID: APNSID(using: &random),
      received: now, expires: received.expires(now: now / 1000), priority: received.priority,
      collapseID: received.collapseID ?? repeats?.collapseID ?? "", payload: content.payload, content: content)
    return (push, repeats)
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
      guard let content = push.content else { return Parcel(push: push, recipient: recipient) }
      try admit(content, id: push.id, push.device, app, now: now)
      guard push.device.isGroup else {
        try admit(advertising: content, id: push.id, push.device, app, now: now)
        return Parcel(push: push, recipient: recipient)
      }
      let delivery = GroupDelivery(groups: parts.groups, registrations: parts.registrations)
      let all = delivery.recipients(of: push.device, app: app.id, now: now)
      if isLater { return Parcel(push: push, recipient: recipient, members: all) }
      let members = try admit(push, to: all)
      if parts.senderRates.boundsSenders {
        parts.senderRates.charge(app.id, of: app.team, copies: members.count - 1, at: now)
      }
      return Parcel(push: push, recipient: recipient, members: members)
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
  ///
  /// - Parameters:
  ///   - attachment: the stored attachment; nil for none.
  ///   - response: makes the response to the stored message.
  private func store(
    _ parcels: [Parcel], _ times: Int?, _ repeats: MessageRepeats.Found?, _ attachment: SentAttachment?,
    at time: Int64?, team: String?, _ exchange: MessageExchange, response: @escaping @Sendable () -> Response
  ) {
    let detail = times.map { DeliveryDetail.repeated($0) } ?? .nothing
    let acceptance: RequestMeter.Acceptance = parcels.allSatisfy(\.isNeverStored) ? .unstored : .stored
    let later = NIOLoopBound((self, exchange), eventLoop: exchange.eventLoop)
    let collected = CollectedOutcomes(count: parcels.count) { failure, isNew in
      later.eventLoop.execute {
        let (api, exchange) = later.value
        if failure != nil { api.parts.messages.uncount(repeats) }
        if !isNew, let attachment { api.release(attachment) }
        api.answer(exchange, failure, acceptance, response)
      }
    }
    for parcel in parcels {
      if let time {
        parts.schedule.add(ScheduledPush(parcel.push, at: time * 1000, expires: nil, team: team)) { outcome in
          switch outcome {
          case .success(.stored): collected.add(nil)
          case .success(.duplicate): collected.add(nil, isNew: false)
          case .success(.full): collected.add(.tooManyRequests)
          case .failure: collected.add(.serviceUnavailable)
          }
        }
      } else if let members = parcel.members {
        store(parcel.push, for: members, detail, collected)
      } else if parcel.isNeverStored {
        Dispatcher.deliverNow([parcel.push], to: destinations)
        collected.add(nil)
      } else {
        let (push, destinations) = (parcel.push, destinations)
        destinations.mailbox.append([push]) { outcomes in
          let stored = Dispatcher.record([push], outcomes, detail, in: destinations)
          collected.add(outcomes.ofAll)
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
      return collected.add(nil, isNew: false)
    }
    let delivery = GroupDelivery(groups: parts.groups, registrations: parts.registrations)
    let isTaken = delivery.store(push, for: members, detail, in: parts.groupPushes, destinations) { outcome in
      collected.add(outcome)
    }
    guard !isTaken else { return }
    shared.meter.reached(.groupPushes)
    collected.add(.tooManyRequests)
  }

  private func answer(
    _ exchange: MessageExchange, _ failure: Reason?, _ acceptance: RequestMeter.Acceptance, _ response: () -> Response
  ) {
    if let failure {
      shared.meter.refuse(failure)
      return exchange.respond(exchange.door.response(to: MessageRefusal(Rejection(failure))))
    }
    shared.meter.accept(acceptance)
    exchange.respond(response())
  }
}
