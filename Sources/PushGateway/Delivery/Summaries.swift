import PushCore
import PushPolicy
import PushStorage

/// Digests: what was held becomes one push in the device's mailbox, which waits, is sent and acknowledged as any other.
struct Summaries: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let held: DeferredPushes
  let router: any PushRouter
  let log: DeliveryLog
  let clock: WallClock

  /// Puts the digests that are due into mailboxes.
  ///
  /// - Parameter isStart: whether the gateway has just begun, and when held pushes are due is to be computed.
  func deliverDue(isStart: Bool = false) {
    for device in held.devices { deliver(to: device, isChanged: isStart) }
  }

  /// Puts a device's digest into its mailbox, if one is due.
  ///
  /// - Parameters:
  ///   - isChanged: whether the person's choices have changed, so that other times may hold.
  ///   - hasCaughtUp: whether the device has just been sent all that waited.
  func deliver(to device: DeviceID, isChanged: Bool = false, hasCaughtUp: Bool = false) {
    let now = clock.milliseconds()
    let due = held.due(
      device, at: now / 1000, hasCaughtUp: hasCaughtUp, recomputing: isChanged ? { self.due($0, on: device) } : nil)
    guard !due.isEmpty else { return }
    let digest = PushSummary(due.compactMap { entry($0, on: device, now: now) })
    guard !digest.entries.isEmpty else { return held.told(due, of: device) }
    // The same pushes make the same id, so that a digest whose commit was not heard of is not stored twice.
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
        held.told(due, of: device)
        log.append([
          push.event(.accepted, at: now, detail: .held(digest.entries.count)), push.event(.stored, at: now),
        ])
        router.deliver([MailboxEntry(seq: seq, push: push)])
      case .deferred?:
        held.told(due, of: device)
        log.append([
          push.event(.accepted, at: now, detail: .held(digest.entries.count)), push.event(.stored, at: now),
        ])
      case .duplicate?: held.told(due, of: device)
      case .unavailable?, .failed?, nil: held.keep(device)
      }
    }
  }

  /// When a held push is due by the choices of now: at once, if they hold it back no longer.
  private func due(_ push: DeferredPushes.Held, on device: DeviceID) -> Int64? {
    guard push.reason == .summary else { return nil }
    let preferences = registrations.preferences(of: device)
    let app = registrations.app(push.app).flatMap { preferences.apps[$0.topic] }
    guard app?.delivery == .summary else { return 0 }
    return preferences.summary.due(after: .gateway(push.received / 1000))
  }

  /// What a digest tells of a held push; nothing when its time is over, or when the person has refused it since.
  private func entry(_ push: DeferredPushes.Held, on device: DeviceID, now: Int64) -> DigestEntry? {
    guard push.expires > now / 1000, let app = registrations.app(push.app),
      Policy.allows(
        .alert, topic: app.topic, category: push.category, preferences: registrations.preferences(of: device))
    else { return nil }
    return DigestEntry(
      id: push.id.description, topic: app.topic, app: app.name, title: push.title, relevance: push.relevance,
      badge: push.badge, received: push.received, collapseID: push.collapseID)
  }
}

extension Registrations {
  /// The app that a push is of; digests are of one that is not stored.
  func app(of push: StoredPush) -> App? { push.app == App.summary.id ? .summary : app(push.app) }
}
