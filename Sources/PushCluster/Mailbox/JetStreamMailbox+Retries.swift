import NATSClient
import PushCore
import PushStorage

/// Whether a push is a retry of one that waits still, since another gateway may have taken that out; and what is tried again.
extension JetStreamMailbox {
  /// Asks again while an election goes on.
  func patiently<Value: Sendable>(
    _ ask: () async throws(JetStreamError) -> Value
  ) async throws(JetStreamError) -> Value {
    let end = environment.now() + environment.patience
    while true {
      do { return try await ask() } catch {
        guard error.mayPass, environment.now() < end else { throw error }
        await environment.pause(.milliseconds(200))
      }
    }
  }

  /// What waits of the id that a sender chose for a push, as far as is known here.
  func waiting(_ push: StoredPush, in box: MailboxCache) -> UInt64? {
    guard push.isSenderID, let seq = box.waiting(MailboxCache.Key(app: push.app, id: push.id)),
      let found = box.pushes[seq], found.expires > now()
    else { return nil }
    return seq
  }

  /// Whether the stream has it still; when it has not, that is known from now on.
  func isThere(_ seq: UInt64, of device: DeviceID) async throws(JetStreamError) -> Bool {
    let found = try await patiently { () async throws(JetStreamError) in
      try await engine.leaderMessage(streams.stream(of: device), sequence: seq)
    }
    if found == nil { change(device) { _ = $0.remove(seq) } }
    return found != nil
  }

  /// Takes a push out when one of its id waits before it, or else remembers it.
  ///
  /// - Returns: whether it is to be sent.
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
      change(push.device) { $0.takeBack(seq) }
    }
    return false
  }

  /// The same where nobody waits for it: a stream that misses the push reads its mailbox.
  func settleSoon(_ seq: UInt64, _ push: StoredPush, after first: UInt64) {
    environment.start { [self] in _ = try? await settle(seq, push, after: first) }
  }

  // MARK: Deletions

  /// What became of a message that was to be deleted.
  enum Deletion {
    case done
    /// Somebody else did it.
    case wasGone
    /// Nobody could.
    case failed
  }

  func deletion(of seq: UInt64, _ stream: String) async -> Deletion {
    let end = environment.now() + environment.patience
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
