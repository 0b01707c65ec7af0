import NATSClient
import PushCore
package import PushStorage
import Synchronization

/// The ids of pushes that have left.
///
/// A broker that starts has only the ids of its stored messages, so it would store a retry of a deleted message
/// again. Therefore each gateway keeps the ids of deleted messages for as long as a retry may come. It writes them
/// into the mailbox's stream once a second. Other gateways subscribe to these messages, and read them after a start
/// or a reconnect.
extension JetStreamMailbox {
  /// The pause between two messages with ids.
  static let reportInterval = Duration.seconds(1)
  /// The maximum number of ids in one message, of some 80 bytes each: brokers accept 1 MB.
  static let reportedAtOnce = 5_000
  /// The maximum number of queued ids while brokers accept nothing; the oldest are dropped.
  static let maximumUnreported = 100_000

  /// Returns true if a push is a retry of one that has left.
  func hasLeft(_ push: StoredPush) -> Bool {
    guard push.isSenderID else { return false }
    let key = RecentIDs.Key(device: push.device, app: push.app, id: push.id)
    return state.withLock { [time = now()] in $0.left.contains(key, now: time) }
  }

  package func knows(_ push: StoredPush) -> Bool {
    guard push.isSenderID else { return false }
    let key = MailboxCache.Key(app: push.app, id: push.id)
    return hasLeft(push) || state.withLock { $0.caches[push.device]?.waiting(key) } != nil
  }

  /// Remembers pushes that have left, and writes their ids into the stream within ``reportInterval``.
  func remember(_ pushes: [MailboxCache.Push], of device: DeviceID) {
    let (partition, time) = (partition(of: device), now())
    let isFirst = state.withLock { state in
      for push in pushes where push.isSenderID {
        let key = RecentIDs.Key(device: device, app: push.app, id: push.id)
        guard state.left.insert(key, dueBy: push.dueBy, now: time) else { continue }
        state.unreported[partition, default: []].append(LeftPush(key, dueBy: push.dueBy))
      }
      guard let count = state.unreported[partition]?.count else { return false }
      // The space for one more message: the removal of single ids would move all others each time.
      if count > Self.maximumUnreported {
        state.unreported[partition]?.removeFirst(count - Self.maximumUnreported + Self.reportedAtOnce)
      }
      return state.reporting.insert(partition).inserted
    }
    if isFirst { reportSoon(partition) }
  }

  private func reportSoon(_ partition: Int) {
    environment.after(Self.reportInterval) { [weak self] in self?.report(partition) }
  }

  private func report(_ partition: Int) {
    let due = state.withLock { state -> [LeftPush] in
      guard !state.isClosed, let all = state.unreported[partition] else {
        state.reporting.remove(partition)
        return []
      }
      // Removed from the queue now, because the queue may drop ids while they are sent.
      state.unreported[partition] = all.count > Self.reportedAtOnce ? Array(all.dropFirst(Self.reportedAtOnce)) : nil
      return Array(all.prefix(Self.reportedAtOnce))
    }
    guard let last = due.map(\.dueBy).max() else { return }
    let headers = [(name: "Nats-TTL", value: "\(max(1, last - now()))s")]
    engine.publish(streams.left(partition, by: name), headers: headers, controlJSON(due)) { [weak self] answer in
      guard let self else { return }
      if case .failure = answer { state.withLock { $0.unreported[partition] = due + ($0.unreported[partition] ?? []) } }
      reportSoon(partition)
    }
  }

  /// Takes the ids from a message of another gateway.
  func take(left body: [UInt8]) {
    guard let pushes = try? decodeJSON([LeftPush].self, from: body) else { return }
    let time = now()
    state.withLock { state in
      for push in pushes {
        if let key = push.key { _ = state.left.insert(key, dueBy: push.dueBy, now: time) }
      }
    }
  }

  // MARK: Other gateways

  /// Subscribes to the ids that other gateways write.
  func subscribeToOthers() throws(NATSError) {
    let cancel = try engine.transport.subscribe(MailboxStreams.leftAnywhere, queue: nil) { [weak self] message in
      self?.take(left: message.body)
    }
    state.withLock { $0.cancelOthers = cancel }
    engine.transport.onLink { [weak self] link in
      guard let self, case .reconnected = link else { return }
      environment.start { [self] in
        for partition in 0..<streams.partitions { try? await readLeft(partition) }
      }
    }
  }

  /// Reads the ids of pushes that have recently left a stream.
  func readLeft(_ partition: Int) async throws(JetStreamError) {
    var next: UInt64 = 1
    while true {
      let page = try await engine.messages(
        streams.stream(partition), subject: streams.left(partition, by: "*"), from: next, limit: Self.pageSize,
        maximumSize: 4 << 20)
      for message in page.messages { take(left: message.body) }
      guard page.remaining > 0, let last = page.messages.last else { return }
      next = last.sequence &+ 1
    }
  }
}
