import PushCore
import PushPolicy
import PushStorage

/// Appends due scheduled pushes to their mailboxes. From then on each is a push like any other, and the preferences
/// at that time apply.
///
/// A push leaves the schedule after it is stored. If the gateway crashes between the two steps, the push is appended
/// once more; the mailbox recognizes its id, so it is delivered once. A push that is never stored leaves the schedule
/// first: of the gateways of a cluster, the one that removes it delivers it.
struct DeliverScheduled: Sendable {
  let scheduled: ScheduledPushes
  let groups: Groups
  let registrations: any Registrations
  let mailbox: any Mailbox
  let router: any PushRouter
  let log: DeliveryLog
  let clock: WallClock
  /// The rates that the copies of a push to a group count against.
  let rates: SenderRates

  /// The result of one attempt to store the due pushes.
  enum Outcome: Equatable {
    /// Each push is in its mailbox, or was dropped.
    case done
    /// Some pushes could not be stored and stay due; the next attempt begins after the given position, or at the
    /// first push if it is nil.
    case incomplete(next: ScheduledPushes.Position?)
  }

  /// The number of copies of each app in one pass over the due pushes. After ``Limits/groupCopiesAtOnce`` copies the
  /// next pass delivers the other pushes of the app: 10,000 pushes to a large group delay no push of another app.
  private struct Turns {
    private var copies: [AppID: Int] = [:]
    /// The apps that have reached the limit in this pass.
    private(set) var resting: Set<AppID> = []

    /// Counts the copies of a push.
    ///
    /// - Returns: true if the push is delivered in this pass.
    mutating func take(_ push: ScheduledPush, copies count: () -> Int) -> Bool {
      guard !resting.contains(push.app) else { return false }
      copies[push.app, default: 0] += count()
      if copies[push.app, default: 0] >= Limits.groupCopiesAtOnce { resting.insert(push.app) }
      return true
    }
  }

  /// Delivers the due pushes in the order of their times, up to the first slice that is not stored completely. Apps
  /// take turns.
  ///
  /// The next attempt begins after that slice, so that a push that can't be stored delays no other.
  func callAsFunction(after first: ScheduledPushes.Position? = nil) async -> Outcome {
    var (position, isFromStart, turns) = (first, first == nil, Turns())
    while true {
      let now = clock.milliseconds()
      let resting = turns.resting
      guard let due = try? await scheduled.due(at: now, after: position, limit: Limits.scheduleSlice, without: resting)
      else { return .incomplete(next: position) }
      guard let last = due.last else {
        if !resting.isEmpty {
          (position, isFromStart, turns) = (nil, true, Turns())
          continue
        }
        if !isFromStart { return .incomplete(next: nil) }
        let isAhead = scheduled.next.map { $0 > now } ?? true
        if !isAhead { do { try await scheduled.refresh() } catch { return .incomplete(next: nil) } }
        return .done
      }
      position = last.position
      let rows = due.filter { row in turns.take(row.push) { copyCount(of: row.push, now: now) } }
      let (done, atOnce, isComplete) = await deliver(rows, now: now)
      do {
        let taken = try await scheduled.remove(atOnce.map(\.number))
        for one in atOnce where taken.contains(one.number) { one.deliver() }
        charge(rows, taken.union(try await scheduled.remove(done)), now: now)
      } catch {
        return .incomplete(next: position)
      }
      if !isComplete { return .incomplete(next: position) }
    }
  }

  /// Counts the copies of delivered pushes to groups against the rates of their apps and teams; the request of each has
  /// counted one. Of the gateways of a cluster, the one that removes a push from the schedule counts its copies.
  private func charge(_ rows: [ScheduledPushes.Row], _ removed: Set<Int64>, now: Int64) {
    guard rates.boundsSenders else { return }
    for row in rows where row.push.device.isGroup && removed.contains(row.number) {
      // A push whose time to live has ended has no copies.
      guard StoredPush(row.push, now: now) != nil else { continue }
      rates.charge(row.push.app, of: row.push.team, copies: copyCount(of: row.push, now: now) - 1, at: now)
    }
  }

  /// Returns the number of devices that a push goes to; at least 1.
  private func copyCount(of push: ScheduledPush, now: Int64) -> Int {
    guard push.device.isGroup else { return 1 }
    let delivery = GroupDelivery(groups: groups, registrations: registrations)
    return max(1, delivery.recipients(of: push.device, app: push.app, now: now).count)
  }

  /// A push that is never stored: the gateway that removes it from the schedule delivers it.
  private struct AtOnce {
    var number: Int64
    var deliver: () -> Void
  }

  /// Delivers one slice of due pushes.
  ///
  /// - Returns: the numbers of the pushes to remove from the schedule, the pushes to deliver after their removal, and
  ///   whether that is all of them.
  private func deliver(
    _ rows: [ScheduledPushes.Row], now: Int64
  ) async -> (done: [Int64], atOnce: [AtOnce], isComplete: Bool) {
    var (done, stored, numbers): ([Int64], [StoredPush], [Int64]) = ([], [], [])
    var atOnce: [AtOnce] = []
    for row in rows {
      if stored.count >= Limits.groupCopiesAtOnce {
        done += await store(stored, of: numbers)
        (stored, numbers) = ([], [])
      }
      guard let push = StoredPush(row.push, now: now) else {
        log.append([row.push.event(.expired, at: now)])
        done.append(row.number)
        continue
      }
      if push.device.isGroup {
        guard let copies = await copies(of: push, now: now) else { continue }
        if copies.isEmpty {
          done.append(row.number)
        } else if push.expires == 0 {
          atOnce.append(
            AtOnce(number: row.number) {
              Dispatcher.deliverNow(copies, to: .init(mailbox: mailbox, router: router, log: log, clock: clock))
            })
        } else {
          log.append(copies.map { $0.event(.accepted, at: now) })
          stored += copies
          numbers += copies.map { _ in row.number }
        }
        continue
      }
      let isRegistered = registrations.registrations(of: push.device).contains { registration, app in
        app.id == push.app && !registration.isExpired(at: now)
      }
      if !isRegistered {
        log.append([push.event(.dropped, at: now, detail: .fact(.unregistered))])
        done.append(row.number)
      } else if push.expires == 0 {
        atOnce.append(
          AtOnce(number: row.number) {
            guard router.deliverNow(push) == .notConnected else { return }
            log.append([push.event(.dropped, at: now, detail: .fact(.notConnected))])
          })
      } else {
        stored.append(push)
        numbers.append(row.number)
      }
    }
    done += await store(stored, of: numbers)
    return (done, atOnce, done.count + atOnce.count == rows.count)
  }

  /// Appends pushes to their mailboxes, each with the number of its scheduled push.
  ///
  /// - Returns: the numbers of the scheduled pushes whose copies are all stored.
  private func store(_ pushes: [StoredPush], of numbers: [Int64]) async -> Set<Int64> {
    let outcomes = await append(pushes)
    var failed: Set<Int64> = []
    for (number, outcome) in zip(numbers, outcomes) {
      switch outcome {
      case .queued, .duplicate: break
      case .unavailable, .failed: failed.insert(number)
      }
    }
    return Set(numbers).subtracting(failed)
  }

  /// Returns the copies of a push for the current members of a group.
  ///
  /// - Returns: nil if the recipients could not be stored.
  private func copies(of push: StoredPush, now: Int64) async -> [StoredPush]? {
    let delivery = GroupDelivery(groups: groups, registrations: registrations)
    let recipients = delivery.recipients(of: push.device, app: push.app, now: now)
    guard !recipients.isEmpty else {
      log.append([push.event(.dropped, at: now, detail: .fact(.nobodyRegistered))])
      return []
    }
    let isNoted = await withCheckedContinuation { continuation in
      groups.note(GroupDelivery.note(push, to: recipients)) { continuation.resume(returning: $0) }
    }
    guard isNoted else { return nil }
    return recipients.map { push.copy(to: $0.device) }
  }

  private func append(_ pushes: [StoredPush]) async -> [AppendOutcome] {
    if pushes.isEmpty { return [] }
    return await withCheckedContinuation { continuation in
      mailbox.append(pushes) { outcomes in
        hand(over: pushes, outcomes)
        continuation.resume(returning: outcomes)
      }
    }
  }

  /// Hands stored pushes to the streams of their devices and logs them.
  private func hand(over pushes: [StoredPush], _ outcomes: [AppendOutcome]) {
    let now = clock.milliseconds()
    var (entries, rows): ([MailboxEntry], [DeliveryLog.Row]) = ([], [])
    for (push, outcome) in zip(pushes, outcomes) {
      switch outcome {
      case .queued(let seq, let replaced):
        entries.append(MailboxEntry(seq: seq, push: push))
        if let replaced { router.notify(push.device, .retract(replaced)) }
      case .duplicate, .unavailable, .failed: break
      }
    }
    for (entry, isConnected) in zip(entries, router.areConnected(entries)) {
      rows.append(entry.push.event(.stored, at: now, detail: isConnected ? .nothing : .fact(.deviceOffline)))
    }
    log.append(rows)
    router.deliver(entries)
  }
}

extension StoredPush {
  /// Creates the push that a scheduled push becomes at its time, in milliseconds since 1970; nil if its time to live
  /// has ended.
  fileprivate convenience init?(_ push: ScheduledPush, now: Int64) {
    let latest = now / 1000 + Int64(Limits.maximumLifetime)
    let expires = push.expires ?? latest
    guard expires == 0 || expires > now / 1000 else { return nil }
    self.init(
      device: push.device, app: push.app, id: push.id, isSenderID: true, uniqueID: push.uniqueID, received: now,
      expires: min(expires, latest), priority: push.priority, collapseID: push.collapseID, payload: push.payload)
  }
}

extension ScheduledPush {
  /// Returns a row of the delivery log about this push.
  func event(_ event: DeliveryEvent, at time: Int64, detail: DeliveryDetail = .nothing) -> DeliveryLog.Row {
    DeliveryLog.Row(
      at: time, event: event, id: id, uniqueID: event == .accepted ? uniqueID : nil, device: device, app: app,
      detail: detail)
  }
}
