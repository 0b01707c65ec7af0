import HTTP2Transport
import PushCore
import PushStorage
import Synchronization

/// The senders of messages, with their rates and the limits on refused tokens.
final class MessageAccess: Sendable {
  let senders: MessageSenders
  private let failures = AddressRateLimiter(
    remote: Limits.failedAuthentications, local: Limits.localFailedAuthentications)
  /// The usage of each sender, by its name.
  private let buckets = Mutex(Buckets())

  private struct Buckets {
    var all: [String: TokenBucket] = [:]
    /// The number of buckets at which full ones are removed.
    var sweepCount = 2 * Limits.maximumMessageSenders
  }

  private let repeats = Mutex(MessageRepeats())

  init(_ senders: MessageSenders) { self.senders = senders }

  /// Counts a message of a sender that combines equal messages; nil for any other sender.
  ///
  /// - Parameter now: milliseconds since 1970.
  func combine(_ payload: [UInt8], id: APNSID, of sender: MessageSender, at now: Int64) -> MessageRepeats.Found? {
    guard let seconds = sender.combine else { return nil }
    let key = MessageRepeats.Key(sender: sender.name, digest: Digest.sha256(payload))
    return repeats.withLock { $0.add(key, id: id, for: seconds, at: now) }
  }

  /// Subtracts a counted message that was not stored.
  func uncount(_ found: MessageRepeats.Found?) {
    guard let found else { return }
    repeats.withLock { $0.remove(found) }
  }

  /// Counts a refused token; false if it exceeds the limit of its address.
  ///
  /// - Parameter now: milliseconds since 1970.
  func countFailure(from source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    failures.take(source, at: now)
  }

  /// Returns true if an address may present another credential.
  ///
  /// - Parameter now: milliseconds since 1970.
  func mayFail(from source: UnauthenticatedConnections.Source, at now: Int64) -> Bool { failures.has(source, at: now) }

  /// Counts a message of a sender.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: the seconds after which the sender may send again; nil if the message is within its rate.
  func excess(_ sender: MessageSender, at now: Int64) -> Int? {
    let rate = TokenBucket.Rate(perMinute: sender.rate)
    let isAllowed = buckets.withLock { buckets in
      // The buckets of removed senders and of endpoints remain until they are full.
      if buckets.all.count > buckets.sweepCount {
        buckets.all = buckets.all.filter { entry in
          var bucket = entry.value
          return !bucket.isFull(at: now)
        }
        buckets.sweepCount = max(2 * Limits.maximumMessageSenders, 2 * buckets.all.count)
      }
      var bucket = buckets.all[sender.name] ?? TokenBucket(rate, at: now)
      if bucket.rate != rate { bucket = TokenBucket(rate, at: now) }
      defer { buckets.all[sender.name] = bucket }
      return bucket.take(at: now)
    }
    return isAllowed ? nil : (60 + sender.rate - 1) / sender.rate
  }
}

extension TokenBucket.Rate {
  /// Makes a rate whose burst is the quota of one minute.
  fileprivate init(perMinute count: Int) {
    self.init(perSecond: count)
    seconds = 60
  }
}
