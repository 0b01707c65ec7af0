import Logging
import NATSClient
import PushCore
import PushStorage
import Synchronization

/// The last push of a collapse id.
private struct Slot: Codable {
  var seq: UInt64
  var id: String
}

extension JetStreamMailbox {
  /// Replaces the push with the same collapse id: of the two, the one with the smaller number is removed.
  ///
  /// Requests for one collapse id run one after another here, and are ordered across gateways by compare-and-set.
  func replace(_ push: StoredPush, seq: UInt64, _ done: @escaping @Sendable (APNSID?) -> Void) {
    let subject = streams.slot(of: push.device, app: push.app, collapseID: push.collapseID)
    let isFirst = state.withLock { state in
      state.slots[subject, default: []].append((push, seq, done))
      return state.slots[subject]?.count == 1
    }
    if isFirst { environment.start { [self] in await work(subject) } }
  }

  private func work(_ subject: String) async {
    while let next = state.withLock({ $0.slots[subject]?.first }) {
      next.done(await replaced(by: next.push, next.seq, subject))
      state.withLock { state in
        state.slots[subject]?.removeFirst()
        if state.slots[subject]?.isEmpty == true { state.slots[subject] = nil }
      }
    }
  }

  private func replaced(by push: StoredPush, _ seq: UInt64, _ subject: String) async -> APNSID? {
    let stream = streams.stream(of: push.device)
    let end = environment.now() + environment.timeout
    let body = controlJSON(Slot(seq: seq, id: push.id.description))
    while environment.now() < end {
      do {
        let found = try await engine.leaderMessage(stream, lastOf: subject)
        let last: Slot? = found.flatMap { try? decodeJSON(from: $0.body) }
        if let last, last.seq > seq {
          // A later push came first and replaces this one.
          _ = await remove(seq, of: push, id: push.id)
          return nil
        }
        if last?.seq != seq {
          let headers = [
            (name: "Nats-Rollup", value: "sub"),
            ("Nats-Expected-Last-Subject-Sequence", "\(found?.sequence ?? 0)"),
            ("Nats-TTL", "\(max(1, push.expires - now()) + PushHeaders.spareTime)s"),
          ]
          let stored = try await engine.publish(subject, headers: headers, body)
          note(stored.sequence, in: partition(of: push.device))
        }
        guard let last, last.seq < seq, let id = APNSID(last.id) else { return nil }
        return await remove(last.seq, of: push, id: id) ? id : nil
      } catch {
        guard error.isConflict || error.mayPass else { break }
        if !error.isConflict { await environment.pause(.milliseconds(100)) }
      }
    }
    logger.log(
      .collapsedPushStays, "a push with a collapse id was stored, and the push that it replaces is still pending")
    return nil
  }

  /// - Parameter id: the id of the push with the number `seq`, of the same device and app as `push`.
  private func remove(_ seq: UInt64, of push: StoredPush, id: APNSID) async -> Bool {
    let removal = MailboxRemoval(device: push.device, app: push.app, id: id, cause: .collapsed)
    return await remove([removal], [seq], of: push.device).left.count == 1
  }
}
