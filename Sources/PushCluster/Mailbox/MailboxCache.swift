import PushCore
import PushStorage

/// What this gateway knows of a device's mailbox: what it stored itself, read, or was told live.
struct MailboxCache {
  struct Push {
    var app: AppID
    var id: APNSID
    var isSenderID: Bool
    var expires: Int64
    /// Until then a push of its id is a retry, in seconds since 1970.
    var dueBy: Int64
  }

  /// A push that has left, with its number.
  struct Left {
    var seq: UInt64
    var push: Push
  }

  struct Key: Hashable {
    var app: AppID
    var id: APNSID
  }

  /// What waits, as far as is known here.
  private(set) var pushes: [UInt64: Push] = [:]
  /// Its numbers in order: a device that acknowledges one after another must not have all looked at each time.
  private var numbers = WaitingNumbers()
  /// The ids that senders chose, of what waits.
  private var ids: [Key: UInt64] = [:]
  /// The device has everything up to this number.
  private(set) var acknowledged: UInt64 = 0
  /// What an acknowledgement named that no message is known to have reached.
  var claimed: UInt64 = 0
  /// Numbers beyond ``acknowledged`` that have left, which a replica that lags may hand out still.
  private(set) var gone: Set<UInt64> = []
  /// What the cap drove out, as this gateway wrote it last.
  private(set) var gap: MailboxGap?
  /// Nothing up to here is in the stream.
  private var swept: UInt64 = 0
  /// Of what waits, everything beyond `after` and up to `through` is known here.
  private var complete: (after: UInt64, through: UInt64) = (0, 0)
  /// Appends of this gateway since what waits was counted.
  var appends = 0
  /// Appends with a collapse id that have not replaced what they replace yet.
  var collapsing = 0
  var turns = PerDeviceQueue()
  var isTrimming = false
  var trimWaiters: [CheckedContinuation<Void, Never>] = []

  var count: Int { pushes.count }
  var isIdle: Bool { turns.isIdle && collapsing == 0 && !isTrimming && claimed == 0 }
  /// Nothing up to here is read.
  var floor: UInt64 { max(acknowledged, gap?.to ?? 0) }

  func waiting(_ key: Key) -> UInt64? { ids[key] }
  func isGone(_ seq: UInt64) -> Bool { seq <= floor || gone.contains(seq) }

  /// - Returns: whether it was not known before.
  mutating func learn(_ seq: UInt64, _ push: StoredPush) -> Bool {
    guard !isGone(seq), pushes[seq] == nil else { return false }
    pushes[seq] = Push(
      app: push.app, id: push.id, isSenderID: push.isSenderID, expires: push.expires,
      dueBy: push.received / 1000 + Int64(Limits.duplicateWindow))
    numbers.add(seq)
    if push.isSenderID { ids[Key(app: push.app, id: push.id)] = seq }
    return true
  }

  /// Whether everything up to a number that is in the stream is known here.
  func isComplete(through seq: UInt64) -> Bool {
    seq <= swept || (complete.after <= swept && seq <= complete.through)
  }

  /// What waits beyond `first` and up to `last` is known from now on.
  mutating func noteComplete(after first: UInt64, through last: UInt64) {
    guard first <= complete.through, last >= complete.after else {
      if last > complete.through { complete = (first, last) }
      return
    }
    complete = (min(complete.after, first), max(complete.through, last))
  }

  mutating func noteSwept(through seq: UInt64) { swept = max(swept, seq) }

  /// A push has left, or leaves now.
  ///
  /// - Returns: false when it had left before.
  mutating func remove(_ seq: UInt64) -> Bool {
    guard !isGone(seq) else { return false }
    forget(seq)
    if numbers.count > 2 * pushes.count + 64 { numbers.keep { [pushes] in pushes[$0] != nil } }
    // Replicas lag by moments: what left long ago is shown by none.
    if gone.count >= 4096, let oldest = gone.min() { gone.remove(oldest) }
    gone.insert(seq)
    return true
  }

  /// What was to leave waits on, since it could not be deleted: whoever reads it next learns of it again.
  mutating func takeBack(_ seq: UInt64) { gone.remove(seq) }

  /// - Returns: what was known of it and leaves.
  mutating func acknowledge(through seq: UInt64) -> [Left] {
    guard seq > acknowledged else { return [] }
    acknowledged = seq
    if let gap, gap.to <= seq { self.gap = nil }
    if !gone.isEmpty { gone = gone.filter { $0 > seq } }
    return forget(through: seq)
  }

  /// The cap drove out what a gap names.
  ///
  /// - Returns: what was known of it.
  mutating func drop(_ gap: MailboxGap) -> [Left] {
    self.gap = gap
    if !gone.isEmpty { gone = gone.filter { $0 > gap.to } }
    return forget(through: gap.to)
  }

  /// - Returns: what was known of it.
  private mutating func forget(through seq: UInt64) -> [Left] {
    let left = numbers.take(through: seq).compactMap { number in pushes[number].map { Left(seq: number, push: $0) } }
    for one in left { forget(one.seq) }
    return left
  }

  private mutating func forget(_ seq: UInt64) {
    guard let push = pushes.removeValue(forKey: seq), push.isSenderID else { return }
    let key = Key(app: push.app, id: push.id)
    if ids[key] == seq { ids[key] = nil }
  }
}

/// The order of what is asked for one device: pushes go out side by side, and what looks at all that waits goes alone.
struct PerDeviceQueue {
  enum Turn {
    case append(@Sendable () -> Void)
    case alone(@Sendable () -> Void)
  }

  private var line: [Turn] = []
  private var appending = 0
  private var isAlone = false

  var isIdle: Bool { line.isEmpty && appending == 0 && !isAlone }

  /// - Returns: what to start now.
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
