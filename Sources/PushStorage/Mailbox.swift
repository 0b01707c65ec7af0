package import PushCore

/// One accepted push on its way to one device. Immutable; its place in the mailbox is given by ``AppendOutcome``.
package final class StoredPush: Sendable {
  package let device: DeviceID
  package let app: AppID
  /// The sender's `apns-id`, or one of ours.
  package let id: APNSID
  /// Whether the sender chose the id, so that the same one again is a retry.
  package let isSenderID: Bool
  /// Always ours (`apns-unique-id`).
  package let uniqueID: APNSID
  /// When the push was accepted, in milliseconds since 1970.
  package let received: Int64
  /// When it ends, in seconds since 1970; at most ``Limits/maximumLifetime`` after `received`.
  package let expires: Int64
  /// 10, 5 or 1.
  package let priority: UInt8
  /// A later push of the same app with the same id replaces this one (`apns-collapse-id`); empty for none.
  package let collapseID: String
  /// The JSON as sent, without line breaks between its tokens.
  package let payload: [UInt8]
  /// What the payload says, as long as the push is on its way from the door: what a home has read is parsed when it is sent.
  package let content: PushContent?

  package init(
    device: DeviceID, app: AppID, id: APNSID, isSenderID: Bool, uniqueID: APNSID, received: Int64, expires: Int64,
    priority: UInt8, collapseID: String, payload: [UInt8], content: PushContent? = nil
  ) {
    self.device = device
    self.app = app
    self.id = id
    self.isSenderID = isSenderID
    self.uniqueID = uniqueID
    self.received = received
    self.expires = expires
    self.priority = priority
    self.collapseID = collapseID
    self.payload = payload
    self.content = content
  }
}

/// A push with its place in its device's mailbox.
package struct MailboxEntry: Sendable {
  /// Per device, increasing from 1; gaps occur. 0 marks a push that was never stored (`apns-expiration: 0`).
  package var seq: UInt64
  /// The number of the push before this one that may wait, as its home knows: a stream that was sent everything up to it
  /// has missed nothing. A home whose numbers have no holes of its own making has the number before.
  package var previous: UInt64
  package var push: StoredPush

  /// - Parameter previous: nil: the number before.
  package init(seq: UInt64, previous: UInt64? = nil, push: StoredPush) {
    self.seq = seq
    self.previous = previous ?? (seq == 0 ? 0 : seq - 1)
    self.push = push
  }
}

/// What became of one append.
package enum AppendOutcome: Sendable {
  /// On stable storage. A push with the same collapse id that this one replaced is named.
  case queued(seq: UInt64, replaced: APNSID?)
  /// On stable storage, by a mailbox that has not read all that waits: it gets its number, or turns out to be a duplicate,
  /// before anything is read. Whoever has an open stream reads it with what waits.
  case deferred
  /// The same id for the same token, seen less than ``Limits/duplicateWindow`` ago or still waiting: stored once.
  case duplicate
  /// Not stored, as far as is known: the disk refused, or too much waits for it. The same push may be sent again.
  case unavailable
  /// Not stored, and sending it again will not help: the store is damaged.
  case failed
}

/// Pushes that the mailbox's cap drove out before the device had them.
package struct MailboxGap: Sendable, Equatable {
  package var from: UInt64
  package var to: UInt64
  package var dropped: Int

  package init(from: UInt64, to: UInt64, dropped: Int) {
    self.from = from
    self.to = to
    self.dropped = dropped
  }
}

/// What waits for a device.
package struct PendingPushes: Sendable {
  /// What the device will never get, to be told before the entries.
  package var gap: MailboxGap?
  /// Oldest first.
  package var entries: [MailboxEntry]
  /// Whether nothing waits after these.
  package var isComplete: Bool

  package init(gap: MailboxGap? = nil, entries: [MailboxEntry], isComplete: Bool) {
    self.gap = gap
    self.entries = entries
    self.isComplete = isComplete
  }
}

/// Why an entry left the mailbox other than by acknowledgement.
package enum RemovalCause: Sendable { case collapsed, expired, overflow, unregistered, undeliverable, retracted }

/// An entry that left the mailbox without being acknowledged.
package struct MailboxRemoval: Sendable {
  package var device: DeviceID
  package var app: AppID
  package var id: APNSID
  package var cause: RemovalCause

  package init(device: DeviceID, app: AppID, id: APNSID, cause: RemovalCause) {
    self.device = device
    self.app = app
    self.id = id
    self.cause = cause
  }
}

/// A failure of the store, in one line for people.
package struct StoreError: Error, CustomStringConvertible {
  package var description: String
  /// Whether the database itself is broken, so that a repair may help.
  package var isDamage = false
  /// Whether there is no room on the disk.
  package var isDiskFull = false
  /// Whether the same may succeed a moment later, since others did not answer yet.
  package var mayPass = false

  package init(_ description: String, mayPass: Bool = false) {
    (self.description, self.mayPass) = (description, mayPass)
  }
}

/// The durable queue of every device. One home is SQLite (``SQLiteMailbox``); others may join it, and pass
/// `MailboxConformance`.
///
/// - **Durability**: an outcome is reported when the push is durable as ``DurabilityLevel`` says, and not before; from
///   then on a read finds it until it leaves. A home whose reads may lag says so, and its router asks for others.
/// - **Order**: a device's numbers increase in the order of appends, and what waits is read in that order: no read finds
///   a push and misses one that waits before it. Numbers may have holes; each costs a live stream a read, unless what is
///   delivered says which number came before it (``MailboxEntry/previous``).
///   What was asked first is applied first, as whoever appends afterwards and is answered can see.
/// - **Duplicates**: an id that its sender chose is stored once for a device and an app while its push waits, and until
///   ``Limits/duplicateWindow`` after that one was received, whatever became of it; also when two threads append it at
///   once. The home may forget the oldest ids beyond ``Limits/maximumRecentIDs``.
/// - **Collapse**: a push with a collapse id replaces the one of the same device, app and collapse id that waits, in one
///   step, and comes after everything that waits. When the outcome is reported no read finds the replaced one.
/// - **Cap**: a device has so many entries at most. The oldest go, and readers are told how many in one ``MailboxGap``
///   until the device has acknowledged its end.
/// - **Start**: a mailbox that was just opened may still be reading what waits. It stores what comes, and says so
///   (``AppendOutcome/deferred``); what is asked meanwhile comes about when all is there, in the order in which it was
///   asked, and reads wait until then.
/// - **Removals**: whatever leaves and was not acknowledged is told once to the function that the home was made with.
/// - **Threads**: every method may be called on any thread, and none but ``pending(for:after:limit:)`` waits for a disk or
///   a network.
package protocol Mailbox: Sendable {
  /// Stores pushes and then calls `completion` once, with an outcome for each, in order.
  ///
  /// Completions come one after another in the order of appends, on a thread of the mailbox, which they must not hold up;
  /// only a refusal may come at once, on the caller's.
  func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void)

  /// What waits for a device beyond `seq`, oldest first, at most `limit` entries.
  ///
  /// A `seq` that was never given out says that the device knows more than this mailbox, as after a backup of it was
  /// restored: numbers then begin after it, also those of what waits.
  func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes

  /// Removes everything up to `seq`, on the disk in its time: nobody waits for it, because a device that reconnects says
  /// where it is. Once this has returned none of it is read again through the same home.
  ///
  /// Idempotent. A number that was never given out acknowledges nothing, and one that was replaced leaves its successor.
  func acknowledge(_ device: DeviceID, through seq: UInt64)

  /// The same, for pushes which another may replace just now: each has one end, and whoever comes first says which.
  ///
  /// - Parameter replaceable: the numbers of such pushes, up to `seq`.
  /// - Returns: those of them that have had another end already. The others leave by this acknowledgement, and nobody is
  ///   told that they left otherwise.
  func acknowledge(_ device: DeviceID, through seq: UInt64, replaceable: [UInt64]) -> [UInt64]

  /// Removes what was appended so far and waits for devices, of one app or of all, and then calls `completion` once.
  ///
  /// What is removed is read no longer once that has been called. It is told true when this is durable: not even a crash
  /// brings any of it back. False says that the store refused, so that it may return when the home is opened anew.
  func purge(_ devices: [DeviceID], app: AppID?, completion: @escaping @Sendable (_ isDurable: Bool) -> Void)

  /// Removes the pushes of an id that wait for devices, of one app or of all, and then calls `completion` once, as
  /// ``purge(_:app:completion:)`` does.
  func retract(
    _ id: APNSID, app: AppID?, from devices: [DeviceID], completion: @escaping @Sendable (_ isDurable: Bool) -> Void)

  /// Removes one push, which its device can't read. A number that does not wait changes nothing.
  func discard(_ device: DeviceID, seq: UInt64)

  /// Removes what has expired by `now`, in seconds since 1970.
  func expire(now: Int64)

  /// Whether a push is a retry of one that waits, or has left a short while ago, as far as is known here at once.
  func knows(_ push: StoredPush) -> Bool

  /// Why nothing can be stored now; nil when it can.
  var problem: HealthProblem? { get }

  /// How many pushes wait for a device, as far as this gateway knows, for people: one that shares the mailbox with others
  /// may not know of what they accepted for a device that has no stream here.
  func waitingCount(for device: DeviceID) -> Int

  /// How many pushes wait for devices, whichever gateway accepted them, for people; those for which nothing waits, and those
  /// of which nobody can say it now, may lack.
  func waitingCounts(of devices: [DeviceID]) async -> [DeviceID: Int]
}

extension Mailbox {
  /// For a home that remembers nothing.
  package func knows(_ push: StoredPush) -> Bool { false }

  /// For a home of one gateway, which knows of all pushes.
  package func waitingCounts(of devices: [DeviceID]) async -> [DeviceID: Int] {
    Dictionary(devices.map { ($0, waitingCount(for: $0)) }) { first, _ in first }
  }

  /// For a home whose removals come after its acknowledgements: none has had another end.
  package func acknowledge(_ device: DeviceID, through seq: UInt64, replaceable: [UInt64]) -> [UInt64] {
    acknowledge(device, through: seq)
    return []
  }

  /// Removes what was appended so far and waits for devices, of one app or of all; returns when that is durable.
  ///
  /// - Throws: ``StoreError`` when the store refuses.
  package func purge(_ devices: [DeviceID], app: AppID?) async throws {
    let isDurable = await withCheckedContinuation { continuation in
      purge(devices, app: app) { continuation.resume(returning: $0) }
    }
    guard isDurable else {
      throw StoreError("pending pushes can't be removed now: \(problem?.problem ?? "the mailbox is closed"); try again")
    }
  }
}
