import PushCore
import PushPolicy
import PushStorage

/// Creates summaries: the deferred pushes of a device become one push in its mailbox, which is stored, sent and
/// acknowledged like any other.
struct Summaries: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let held: DeferredPushes
  let router: any PushRouter
  let log: DeliveryLog
  let clock: WallClock

  /// Appends the due summaries of all devices to their mailboxes.
  ///
  /// - Parameter isStart: true at the start of the gateway, when the due times of deferred pushes must be computed.
  func deliverDue(isStart: Bool = false) {
    for device in held.devices { deliver(to: device, isChanged: isStart) }
  }

  /// Appends a device's summary to its mailbox, if its due time has come.
  ///
  /// - Parameters:
  ///   - isChanged: true if the user's preferences have changed, so that other due times may apply.
  ///   - hasCaughtUp: true if the device has just been sent all pending pushes.
  func deliver(to device: DeviceID, isChanged: Bool = false, hasCaughtUp: Bool = false) {
    let now = clock.milliseconds()
    let due = held.due(
      device, at: now / 1000, hasCaughtUp: hasCaughtUp, recomputing: isChanged ? { self.due($0, on: device) } : nil)
    guard !due.isEmpty else { return }
    let digest = PushSummary(due.compactMap { entry($0, on: device, now: now) })
    guard !digest.entries.isEmpty else { return held.summarized(due, of: device) }
    // The id depends only on the deferred pushes, so that a summary whose commit was not confirmed is not stored
    // twice.
    let seed = due.map(\.id).sorted { $0.stored.lexicographicallyPrecedes($1.stored) }.flatMap(\.stored)
    var random = SystemRandomNumberGenerator()
    guard let id = APNSID(stored: Array(Digest.sha256(seed).prefix(16)) + [255, 255, 255, 255]) else {
      return held.keep(device)
    }
    let push = StoredPush(
      device: device, app: App.summary.id, id: id, isSenderID: true, uniqueID: APNSID(using: &random), received: now,
      expires: now / 1000 + Int64(Limits.maximumLifetime), priority: 10, collapseID: "", payload: digest.payload)
    mailbox.append([push]) { outcomes in
      switch outcomes.first {
      case .queued(let seq, _)?:
        held.summarized(due, of: device)
        log.append([
          push.event(.accepted, at: now, detail: .held(digest.entries.count)), push.event(.stored, at: now),
        ])
        router.deliver([MailboxEntry(seq: seq, push: push)])
      case .duplicate?: held.summarized(due, of: device)
      case .unavailable?, .failed?, nil: held.keep(device)
      }
    }
  }

  /// Returns the due time of a deferred push under the current preferences; 0 (at once) if they no longer defer it.
  private func due(_ push: DeferredPushes.Push, on device: DeviceID) -> Int64? {
    guard push.reason == .summary else { return nil }
    let preferences = registrations.preferences(of: device)
    let app = registrations.app(push.app)
    let choices = app.flatMap { preferences.apps[$0.topic] }
    let isReported = choices?.advertising != true && app?.measure?.isActive(at: clock.seconds) == true
    guard isReported || choices?.delivery == .summary else { return 0 }
    return preferences.summary.due(after: .gateway(push.received / 1000))
  }

  /// Returns the entry of a deferred push in a summary; nil if it has expired, or if the user's preferences now
  /// forbid it.
  private func entry(_ push: DeferredPushes.Push, on device: DeviceID, now: Int64) -> SummaryEntry? {
    guard push.expires > now / 1000, let app = registrations.app(push.app),
      Policy.allows(
        .alert, topic: app.topic, category: push.category, preferences: registrations.preferences(of: device))
    else { return nil }
    return SummaryEntry(
      id: push.id.description, topic: app.topic, app: app.name, title: push.title, relevance: push.relevance,
      badge: push.badge, received: push.received, collapseID: push.collapseID)
  }
}

extension Registrations {
  /// Returns the app of a push; the app of summaries is not stored.
  func app(of push: StoredPush) -> App? { push.app == App.summary.id ? .summary : app(push.app) }
}
