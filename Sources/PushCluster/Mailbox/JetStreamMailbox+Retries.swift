import NATSClient
import PushCore
import PushStorage

/// Detects retries of pushes that are still pending, which another gateway may have removed, and repeats requests.
extension JetStreamMailbox {
  /// Repeats a request while an election is running.
  func retrying<Value: Sendable>(
    _ ask: () async throws(JetStreamError) -> Value
  ) async throws(JetStreamError) -> Value {
    let end = environment.now() + environment.timeout
    while true {
      do { return try await ask() } catch {
        guard error.mayPass, environment.now() < end else { throw error }
        await environment.pause(.milliseconds(200))
      }
    }
  }

  /// Returns the number of a cached pending push with the id that a sender chose for `push`.
  func waiting(_ push: StoredPush, in cache: MailboxCache) -> UInt64? {
    guard push.isSenderID, let seq = cache.waiting(MailboxCache.Key(app: push.app, id: push.id)),
      let found = cache.pushes[seq], found.expires > now()
    else { return nil }
    return seq
  }

  /// Returns true if the stream still has a push; otherwise removes it from the cache.
  func isThere(_ seq: UInt64, of device: DeviceID) async throws(JetStreamError) -> Bool {
    let found = try await retrying { () async throws(JetStreamError) in
      try await engine.leaderMessage(streams.stream(of: device), sequence: seq)
    }
    if found == nil { change(device) { _ = $0.remove(seq) } }
    return found != nil
  }

  /// Removes a push if an earlier one with its id is pending, or else caches it.
  ///
  /// - Returns: true if the push is sent to the device.
  func settle(_ seq: UInt64, _ push: StoredPush, after first: UInt64) async throws(JetStreamError) -> Bool {
    guard try await isThere(first, of: push.device) else {
      return switch learn(seq, push) {
      case .new(let isDue): isDue
      case .retry(let other): try await settle(seq, push, after: other)
      }
    }
    change(push.device) { _ = $0.remove(seq) }
    environment.start { [self] in
      guard await deletion(of: seq, streams.stream(of: push.device)) == .failed else { return }
      change(push.device) { $0.restore(seq) }
    }
    return false
  }

  /// Settles a push without a result: a stream that misses the push reads its mailbox.
  func settleSoon(_ seq: UInt64, _ push: StoredPush, after first: UInt64) {
    environment.start { [self] in _ = try? await settle(seq, push, after: first) }
  }

  // MARK: Deletions

  enum Deletion {
    case done
    /// Another process deleted the message.
    case wasGone
    case failed
  }

  func deletion(of seq: UInt64, _ stream: String) async -> Deletion {
    let end = environment.now() + environment.timeout
    var isUncertain = false
    while true {
      do {
        try await engine.delete(stream, sequence: seq)
        return .done
      } catch {
        if error.isNotFound { return isUncertain ? .done : .wasGone }
        guard error.mayPass, environment.now() < end else {
          note(error)
          return .failed
        }
        isUncertain = isUncertain || error.leavesDoubt
        await environment.pause(.milliseconds(100))
      }
    }
  }
}
