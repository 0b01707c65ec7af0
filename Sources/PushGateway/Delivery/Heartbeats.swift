import PushCore
import PushPolicy
import PushStorage

/// The heartbeats of senders, and the pushes about a late heartbeat and about its end.
///
/// The pushes are scheduled in the transaction that changes the state (``Expectations``), for the present time. From
/// then on ``Schedule`` delivers them as all scheduled pushes.
struct Heartbeats: Sendable {
  let expectations: Expectations
  let senders: MessageSenders
  let registrations: any Registrations
  let groups: Groups
  let log: DeliveryLog
  let clock: WallClock
  /// The environment of the groups' pushes, if they are registered in both.
  let environment: Environment

  /// The texts of the push about a heartbeat.
  struct Text: Sendable, Equatable {
    var title: String
    var body: String
    /// True if the push has a sound.
    var isAlarm: Bool

    /// The text about a late heartbeat.
    init(late expectation: Expectation) {
      title = "\(expectation.sender) is late"
      let interval = TimeSpan.text(seconds: expectation.every)
      if let beat = expectation.beat {
        let time = Timestamp.text(beat).prefix(16).map { $0 == "T" ? " " : String($0) }.joined()
        body = "No heartbeat since \(time) UTC, expected every \(interval)"
      } else {
        body = "No heartbeat yet, expected every \(interval)"
      }
      isAlarm = true
    }

    /// The text about the heartbeat that ends a late one.
    ///
    /// - Parameter now: milliseconds since 1970.
    init(endOf expectation: Expectation, at now: Int64) {
      title = "\(expectation.sender) is back"
      if let beat = expectation.beat, beat <= now {
        body = "A heartbeat came after \(TimeSpan.text(seconds: (now - beat) / 1000))"
      } else {
        body = "The first heartbeat came"
      }
      isAlarm = false
    }

    /// The payload of the push.
    var payload: [UInt8] {
      var json = Array(#"{"aps":{"alert":{"title":"#.utf8)
      appendJSONString(title, to: &json)
      json += #","body":"#.utf8
      appendJSONString(body, to: &json)
      json += (isAlarm ? #"},"sound":"default"}}"# : "}}}").utf8
      return json
    }
  }

  /// Records a heartbeat of a sender.
  ///
  /// - Returns: nil if no heartbeat of the sender is expected.
  func beat(_ sender: MessageSender) async throws -> Expectations.Beat? {
    let now = clock.milliseconds()
    let beat = try await expectations.beat(sender.name, at: now) { before in
      pushes(Text(endOf: before, at: now), to: sender, at: now)
    }
    note(beat?.pushes ?? [])
    return beat
  }

  /// Schedules the pushes about late heartbeats.
  func findLate() async throws {
    let now = clock.milliseconds()
    while let scheduled = try await findLate(at: now) { note(scheduled) }
  }

  private func findLate(at now: Int64) async throws -> [ScheduledPush]? {
    try await expectations.findLate(at: now) { expectation in
      guard let sender = try? senders.sender(named: expectation.sender) else { return [] }
      return pushes(Text(late: expectation), to: sender, at: now)
    }
  }

  private func note(_ pushes: [ScheduledPush]) {
    log.append(pushes.map { $0.event(.accepted, at: $0.received) })
  }

  /// Makes one push for each recipient of a sender that is registered for its app. The push about the end replaces the
  /// one about the late heartbeat.
  private func pushes(_ text: Text, to sender: MessageSender, at now: Int64) -> [ScheduledPush] {
    var random = SystemRandomNumberGenerator()
    let (id, payload) = (APNSID(using: &random), text.payload)
    let team = registrations.app(sender.app)?.team
    return sender.recipients.compactMap { recipient in
      guard let device = address(of: recipient, app: sender.app, now: now) else { return nil }
      let push = StoredPush(
        device: device, app: sender.app, id: id, isSenderID: false, uniqueID: APNSID(using: &random), received: now,
        expires: 0, priority: 10, collapseID: "heartbeat:" + sender.name, payload: payload)
      return ScheduledPush(push, at: now, expires: nil, team: team)
    }
  }

  /// Returns the address of a recipient that is registered for an app; nil if it is not.
  private func address(of recipient: MessageSender.Recipient, app: AppID, now: Int64) -> DeviceID? {
    let all = recipient.registrations(in: environment, registrations, groups)
    let usable = all.filter { $0.app == app && !$0.isExpired(at: now) }
    return (usable.first { $0.environment == environment } ?? usable.first)?.device
  }
}
