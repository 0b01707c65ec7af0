import GatewayProtocol
import PushCore
import PushPolicy
import PushStorage

/// The reading of a webhook's body without sending (`pushcli hooks test`).
struct HookTest: Sendable {
  let recipients: MessageRecipients
  let environment: Environment
  let clock: WallClock

  /// Returns the message of a body, and the decision of each device.
  ///
  /// - Throws: the refusal that the request would get.
  func read(_ body: [UInt8], _ hook: Hook, of sender: MessageSender) throws(MessageRefusal) -> HookTestRecord {
    guard body.count <= MessageDoor.hook.maximumBodySize else { throw MessageDoor.hook.tooLarge }
    let message: HookMessage
    switch try WebhookFormat.read(body, hook) {
    case .ignored(let event): return HookTestRecord(result: "ignored", event: event)
    case .message(let read): message = read
    }
    let subject = message.subject.map(HookMessage.identifier)
    var record = HookTestRecord(result: message.isResolved ? "resolved" : "message", collapseID: subject)
    if message.isResolved { return record }
    let payload = try SentMessage(message.fields, now: clock.seconds).payload
    record.payload = String(decoding: payload, as: UTF8.self)
    record.recipients = try decisions(on: payload, of: sender)
    return record
  }

  private func decisions(
    on payload: [UInt8], of sender: MessageSender
  ) throws(MessageRefusal) -> [HookTestRecord.Recipient] {
    let registrations = recipients.registrations
    guard let app = registrations.app(sender.app) else {
      throw MessageRefusal(410, "AppRemoved", "the app of this webhook was removed: `pushcli hooks add` makes another")
    }
    let content: PushContent
    do {
      content = try PayloadReader(parser: JSONParser()).content(of: payload)
    } catch {
      throw .badMessage("the message can't be read")
    }
    if app.policyMode == .enforce, let violation = content.parsed.violations.first {
      throw MessageRefusal(Rejection(.forbidden, violation: violation, id: nil))
    }
    let (now, ads) = (clock.milliseconds(), AdFilter())
    var random = SystemRandomNumberGenerator()
    let id = APNSID(using: &random)
    var found: [HookTestRecord.Recipient] = []
    var space = Limits.maximumAnsweredDevices
    for recipient in sender.recipients {
      let name = recipients.name(of: recipient, environment)
      do throws(MessageRefusal) {
        let registration = try recipients.registration(of: recipient, app, environment, now: now)
        let delivery = GroupDelivery(groups: recipients.groups, registrations: registrations)
        let devices =
          registration.device.isGroup
          ? delivery.recipients(of: registration.device, app: app.id, now: now).map(\.device) : [registration.device]
        let listed = devices.prefix(space)
        space -= listed.count
        let push = StoredPush(
          device: registration.device, app: app.id, id: id, isSenderID: false, uniqueID: id, received: now,
          expires: now / 1000 + 1, priority: 10, collapseID: "", payload: content.payload, content: content)
        let decided = listed.compactMap { recipients.forecast(push.copy(to: $0), on: $0, app, at: now, ads: ads) }
        found.append(HookTestRecord.Recipient(recipient: name, devices: decided.map { HookTestRecord.Device($0) }))
      } catch {
        found.append(HookTestRecord.Recipient(recipient: name, refused: error.message))
      }
    }
    return found
  }
}

extension HookTestRecord.Device {
  fileprivate init(_ device: MessageAnswer.Device) {
    self.init(
      device: device.device, presented: device.presented,
      removed: (device.removed ?? []).map { "\($0.part): \($0.reason)" })
  }
}
