import DequeModule
import PushCore
import PushStorage

/// This gateway's cache of a device's mailbox: the pushes that it stored itself, read, or received live.
struct MailboxCache {
  struct Push {
    var app: AppID
    var id: APNSID
    var isSenderID: Bool
    var expires: Int64
    /// The time until which a push with the same id is a retry, in seconds since 1970.
    var dueBy: Int64
  }

  struct Key: Hashable {
    var app: AppID
    var id: APNSID
  }

  /// The cached pending pushes by number.
  private(set) var pushes: [UInt64: Push] = [:]
  /// The numbers in order: a device that acknowledges one after another must not cause a scan of all each time.
  private var numbers = WaitingNumbers()
  /// The sender-chosen ids of the pending pushes.
  private var ids: [Key: UInt64] = [:]
  /// The number up to which the device has acknowledged its pushes.
  private(set) var acknowledged: UInt64 = 0
  /// An acknowledged number above all numbers that this gateway has seen in the stream.
  var claimed: UInt64 = 0
  /// The numbers above ``acknowledged`` that have left, which a lagging replica may still return.
  private(set) var gone: Set<UInt64> = []
  /// The gap of evicted pushes that this gateway wrote last.
  private(set) var gap: MailboxGap?
  /// The number up to which the stream has no push.
  private var swept: UInt64 = 0
  /// The range `after < seq <= through` in which all pending pushes are cached.
  private var complete: (after: UInt64, through: UInt64) = (0, 0)
  /// The number of this gateway's appends since the pending pushes were counted.
  var appends = 0
  /// The number of appends with a collapse id that have not replaced their predecessor yet.
  var collapsing = 0
  var turns = PerDeviceQueue()
  var isTrimming = false
  var trimWaiters: [CheckedContinuation<Void, Never>] = []

  var count: Int { pushes.count }
  var isIdle: Bool { turns.isIdle && collapsing == 0 && !isTrimming && claimed == 0 }
  /// The number up to which no push is read.
  var floor: UInt64 { max(acknowledged, gap?.to ?? 0) }

  func waiting(_ key: Key) -> UInt64? { ids[key] }
  func isGone(_ seq: UInt64) -> Bool { seq <= floor || gone.contains(seq) }

  /// Caches a push.
  ///
  /// - Returns: true if the push was not cached before.
  mutating func learn(_ seq: UInt64, _ push: StoredPush) -> Bool {
    guard !isGone(seq), pushes[seq] == nil else { return false }
    pushes[seq] = Push(
      app: push.app, id: push.id, isSenderID: push.isSenderID, expires: push.expires,
      dueBy: push.received / 1000 + Int64(Limits.duplicateWindow))
    numbers.add(seq)
    if push.isSenderID { ids[Key(app: push.app, id: push.id)] = seq }
    return true
  }

  /// Returns true if all pushes in the stream up to a number are cached.
  func isComplete(through seq: UInt64) -> Bool {
    seq <= swept || (complete.after <= swept && seq <= complete.through)
  }

  /// Records that the pending pushes in `first < seq <= last` are cached.
  mutating func noteComplete(after first: UInt64, through last: UInt64) {
    guard first <= complete.through, last >= complete.after else {
      if last > complete.through { complete = (first, last) }
      return
    }
    complete = (min(complete.after, first), max(complete.through, last))
  }

  mutating func noteSwept(through seq: UInt64) { swept = max(swept, seq) }

  /// Removes a push that has left or is leaving.
  ///
  /// - Returns: false when it had left before.
  mutating func remove(_ seq: UInt64) -> Bool {
    guard !isGone(seq) else { return false }
    forget(seq)
    if numbers.count > 2 * pushes.count + 64 { numbers.keep { [pushes] in pushes[$0] != nil } }
    // Replicas lag only briefly: none returns pushes that left long ago.
    if gone.count >= 4096, let oldest = gone.min() { gone.remove(oldest) }
    gone.insert(seq)
    return true
  }

  /// Undoes ``remove(_:)`` for a push that could not be deleted: the next read caches it again.
  mutating func restore(_ seq: UInt64) { gone.remove(seq) }

  /// Removes the pushes up to a number.
  ///
  /// - Returns: the removed pushes that were cached.
  mutating func acknowledge(through seq: UInt64) -> [(seq: UInt64, push: Push)] {
    guard seq > acknowledged else { return [] }
    acknowledged = seq
    if let gap, gap.to <= seq { self.gap = nil }
    if !gone.isEmpty { gone = gone.filter { $0 > seq } }
    return forget(through: seq)
  }

  /// Removes the evicted pushes that a gap covers.
  ///
  /// - Returns: the removed pushes that were cached.
  mutating func drop(_ gap: MailboxGap) -> [(seq: UInt64, push: Push)] {
    self.gap = gap
    if !gone.isEmpty { gone = gone.filter { $0 > gap.to } }
    return forget(through: gap.to)
  }

  /// Removes the pushes up to a number from the cache.
  ///
  /// - Returns: the removed pushes that were cached.
  private mutating func forget(through seq: UInt64) -> [(seq: UInt64, push: Push)] {
    let left = numbers.take(through: seq).compactMap { seq in pushes[seq].map { (seq: seq, push: $0) } }
    for one in left { forget(one.seq) }
    return left
  }

  private mutating func forget(_ seq: UInt64) {
    guard let push = pushes.removeValue(forKey: seq), push.isSenderID else { return }
    let key = Key(app: push.app, id: push.id)
    if ids[key] == seq { ids[key] = nil }
  }
}

/// The order of operations for one device: appends run concurrently, and an operation on all pending pushes runs alone.
struct PerDeviceQueue {
  enum Turn {
    case append(@Sendable () -> Void)
    case alone(@Sendable () -> Void)
  }

  private var line: Deque<Turn> = []
  private var appending = 0
  private var isAlone = false

  var isIdle: Bool { line.isEmpty && appending == 0 && !isAlone }

  /// Queues an operation.
  ///
  /// - Returns: the operations to start now.
  mutating func add(_ turn: Turn) -> [@Sendable () -> Void] {
    line.append(turn)
    return start()
  }

  mutating func endAppend() -> [@Sendable () -> Void] {
    appending -= 1
    return start()
  }

  mutating func endAlone() -> [@Sendable () -> Void] {
    isAlone = false
    return start()
  }

  private mutating func start() -> [@Sendable () -> Void] {
    var started: [@Sendable () -> Void] = []
    while !isAlone, let first = line.first {
      switch first {
      case .append(let body):
        appending += 1
        started.append(body)
      case .alone(let body):
        guard appending == 0 else { return started }
        isAlone = true
        started.append(body)
      }
      line.removeFirst()
    }
    return started
  }
}
