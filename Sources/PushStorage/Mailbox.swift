package import PushCore

/// One accepted push on its way to one device. Immutable; ``AppendOutcome`` gives its number in the mailbox.
package final class StoredPush: Sendable {
  package let device: DeviceID
  package let app: AppID
  /// The sender's `apns-id`, or an id that the gateway made.
  package let id: APNSID
  /// True if the sender chose the id; the same id again is then a retry.
  package let isSenderID: Bool
  /// The `apns-unique-id`, always made by the gateway.
  package let uniqueID: APNSID
  /// The time at which the gateway accepted the push, in milliseconds since 1970.
  package let received: Int64
  /// The time at which the push expires, in seconds since 1970; at most ``Limits/maximumLifetime`` after `received`.
  package let expires: Int64
  /// The `apns-priority`: 10, 5 or 1.
  package let priority: UInt8
  /// The `apns-collapse-id`; empty for none. A later push of the same app with the same id replaces this one.
  package let collapseID: String
  /// The JSON as sent, without line breaks between its tokens.
  package let payload: [UInt8]
  /// The parsed payload of a push that a request delivers; nil for a push that a storage backend has read, which is
  /// parsed when it is sent.
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

/// A push with its number in its device's mailbox.
package struct MailboxEntry: Sendable {
  /// The number, increasing from 1 for each device; gaps occur. 0: a push that was never stored (`apns-expiration: 0`).
  package var seq: UInt64
  /// The number of the preceding push that may be pending, as far as the storage backend can determine it. A stream
  /// that was sent everything up to `previous` has missed no push.
  ///
  /// A storage backend that leaves no holes in its numbers uses `seq - 1`.
  package var previous: UInt64
  package var push: StoredPush

  /// - Parameter previous: nil: `seq - 1`, or 0 if `seq` is 0.
  package init(seq: UInt64, previous: UInt64? = nil, push: StoredPush) {
    self.seq = seq
    self.previous = previous ?? (seq == 0 ? 0 : seq - 1)
    self.push = push
  }
}

/// The result of one append.
package enum AppendOutcome: Sendable {
  /// The push is on stable storage. `replaced` is the id of the push with the same collapse id that this one replaced.
  case queued(seq: UInt64, replaced: APNSID?)
  /// The same id for the same token, received less than ``Limits/duplicateWindow`` ago or still pending: stored once.
  case duplicate
  /// The push is not stored, as far as is known: the disk refused it, or too many appends are queued. The sender may
  /// send the same push again.
  case unavailable
  /// The push is not stored, and sending it again will not help: the store is damaged.
  case failed
}

/// Pushes that were evicted by the mailbox's limit before the device received them.
package struct MailboxGap: Sendable, Equatable {
  package var from: UInt64
  package var to: UInt64
  package var dropped: Int

  package init(from: UInt64, to: UInt64, dropped: Int) {
    (self.from, self.to, self.dropped) = (from, to, dropped)
  }
}

/// The JSON that the streams of a cluster contain.
extension MailboxGap: Codable {
  private enum CodingKeys: String, CodingKey { case from, to, dropped }

  /// - Throws: an error for numbers that no stream reaches.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    from = try fields.decode(UInt64.self, forKey: .from)
    to = try fields.decode(UInt64.self, forKey: .to)
    dropped = try fields.decode(Int.self, forKey: .dropped)
    guard from <= to, Int64(exactly: to) != nil, (0...1 << 48).contains(dropped) else {
      throw DecodingError.dataCorruptedError(forKey: .to, in: fields, debugDescription: "no gap")
    }
  }
}

package struct PendingPushes: Sendable {
  /// The evicted pushes that the device will never receive; reported before the entries.
  package var gap: MailboxGap?
  /// The entries, oldest first.
  package var entries: [MailboxEntry]
  /// True if no push is pending after these entries.
  package var isComplete: Bool

  package init(gap: MailboxGap? = nil, entries: [MailboxEntry], isComplete: Bool) {
    (self.gap, self.entries, self.isComplete) = (gap, entries, isComplete)
  }
}

/// The reason why an entry left the mailbox without an acknowledgement.
package enum RemovalCause: Sendable { case collapsed, expired, overflow, unregistered, undeliverable, retracted }

/// An entry that left the mailbox without being acknowledged.
package struct MailboxRemoval: Sendable {
  package var device: DeviceID
  package var app: AppID
  package var id: APNSID
  package var cause: RemovalCause

  package init(device: DeviceID, app: AppID, id: APNSID, cause: RemovalCause) {
    (self.device, self.app, self.id, self.cause) = (device, app, id, cause)
  }
}

/// The durable queue of every device. ``SQLiteMailbox`` is one storage backend; others have to pass
/// `MailboxConformance`.
///
/// - **Durability**: The mailbox reports an outcome when the push is durable as ``DurabilityLevel`` defines it, and not
///   before. From then on a read finds the push until it leaves. A storage backend whose reads may lag documents that,
///   and its router repeats such reads.
/// - **Order**: A device's numbers increase in the order of appends, and pending pushes are read in that order: no read
///   finds a push and misses an earlier pending one. Numbers may have holes. A hole costs a live stream one read,
///   unless the delivered entry names the number before it (``MailboxEntry/previous``). Operations are applied in the
///   order of the calls, so a caller whose later append was answered sees the earlier ones.
/// - **Duplicates**: An id that the sender chose is stored once for a device and an app while its push is pending. The
///   id also stays known until ``Limits/duplicateWindow`` after the push was received, even if the push has left. This
///   also holds for concurrent appends of two threads. The storage backend may forget the oldest ids beyond
///   ``Limits/maximumRecentIDs``.
/// - **Collapse**: A push with a collapse id atomically replaces the pending push of the same device, app and collapse
///   id, and comes after all pending pushes. When the outcome is reported, no read finds the replaced push.
/// - **Limit**: The number of entries of a device is limited. The oldest entries are evicted, and readers receive their
///   count in one ``MailboxGap`` until the device has acknowledged the end of the gap.
/// - **Removals**: The mailbox reports each entry that leaves without an acknowledgement once, to the function that was
///   passed to the storage backend's initializer.
/// - **Threads**: Every method may be called on any thread. Only ``pending(for:after:limit:)`` is delayed by a
///   disk or a network.
package protocol Mailbox: Sendable {
  /// Stores pushes and then calls `completion` once, with one outcome for each push, in order.
  ///
  /// Completions are called one after another in the order of appends, on a thread of the mailbox, which they must not
  /// block. A refusal may be reported immediately, on the caller's thread.
  func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void)

  /// Returns the pending pushes of a device above `seq`, oldest first, at most `limit` entries.
  ///
  /// A `seq` above all numbers that were given out means that the mailbox is older than the device's state, for example
  /// after a restore of a backup. Numbers then continue after `seq`, also the numbers of pending pushes.
  func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes

  /// Removes everything up to `seq`; the disk follows later. No caller depends on the write to the disk, because
  /// a device reports its position when it reconnects. After the return, no read of the same storage backend
  /// finds these pushes.
  ///
  /// Idempotent. A number that was never given out acknowledges nothing, and the number of a replaced push does not
  /// acknowledge the push that replaced it.
  func acknowledge(_ device: DeviceID, through seq: UInt64)

  /// Removes everything up to `seq`, where a concurrent append may replace some of the pushes.
  ///
  /// Each push has exactly one end: the acknowledgement or the replacement, depending on which comes first.
  ///
  /// - Parameter replaceable: the numbers of pushes up to `seq` that may be replaced.
  /// - Returns: the numbers of `replaceable` that have already left in another way. The others leave by this
  ///   acknowledgement, and the mailbox reports no removal for them.
  func acknowledge(_ device: DeviceID, through seq: UInt64, replaceable: [UInt64]) -> [UInt64]

  /// Removes the pending pushes of devices that were appended so far, of one app or of all apps, and then calls
  /// `completion` once.
  ///
  /// After that call, no read finds the removed pushes. `isDurable` is true when the removal is durable: not even a
  /// crash restores any of them. It is false when the store refused, so that they may return when the storage
  /// backend is reopened.
  func purge(_ devices: [DeviceID], app: AppID?, completion: @escaping @Sendable (_ isDurable: Bool) -> Void)

  /// Removes the pending pushes with an id, of one app or of all apps, and then calls `completion` once, as
  /// ``purge(_:app:completion:)`` does.
  func retract(
    _ id: APNSID, app: AppID?, from devices: [DeviceID], completion: @escaping @Sendable (_ isDurable: Bool) -> Void)

  /// Removes one push that its device can't read. A number that is not pending changes nothing.
  func discard(_ device: DeviceID, seq: UInt64)

  /// Removes the pushes that have expired at `now`, in seconds since 1970.
  func expire(now: Int64)

  /// Returns true if a push is a retry of one that is pending or has left recently, as far as is known here
  /// without a read.
  func knows(_ push: StoredPush) -> Bool

  /// The reason why no push can be stored now; nil while pushes can be stored.
  var problem: HealthProblem? { get }

  /// Returns the number of pending pushes of a device, as far as this gateway can determine it. The value
  /// is for display.
  ///
  /// A gateway that shares the mailbox with others may miss the pushes that they accepted for a device without
  /// a stream here.
  func waitingCount(for device: DeviceID) -> Int

  /// Returns the numbers of pending pushes of devices, including pushes that other gateways accepted. The values are
  /// for display. A device without pending pushes, or whose number is not available now, may be missing.
  func waitingCounts(of devices: [DeviceID]) async -> [DeviceID: Int]
}

extension Mailbox {
  /// The default for a storage backend that stores no ids.
  package func knows(_ push: StoredPush) -> Bool { false }

  /// The default for a storage backend of a single gateway, which counts all pushes.
  package func waitingCounts(of devices: [DeviceID]) async -> [DeviceID: Int] {
    Dictionary(devices.map { ($0, waitingCount(for: $0)) }) { first, _ in first }
  }

  /// The default for a storage backend whose removals come after its acknowledgements: no push has left in another way.
  package func acknowledge(_ device: DeviceID, through seq: UInt64, replaceable: [UInt64]) -> [UInt64] {
    acknowledge(device, through: seq)
    return []
  }

  /// Removes the pending pushes of devices that were appended so far, of one app or of all apps; returns when the
  /// removal is durable.
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
