import Dispatch
import NATSClient
package import PushCore
import PushStorage
import Synchronization

extension JetStreamMailbox {
  // MARK: Acknowledging

  package func acknowledge(_ device: DeviceID, through seq: UInt64) {
    guard seq > 0 else { return }
    let partition = partition(of: device)
    let highest = state.withLock { $0.highest[partition] }
    let (left, isKnown) = change(device) { cache -> ([(seq: UInt64, push: MailboxCache.Push)], Bool) in
      guard seq > cache.acknowledged else { return ([], true) }
      guard seq <= highest else {
        // The number is either from another gateway, or was never given out.
        cache.claimed = max(cache.claimed, seq)
        return ([], false)
      }
      let isKnown = cache.isComplete(through: seq)
      let gap = cache.gap
      let left = cache.acknowledge(through: seq)
      return (left, isKnown && gap == nil)
    }
    remember(left.map(\.push), of: device)
    delete(left.map(\.seq), of: device)
    if !isKnown { sweepSoon([device]) }
  }

  /// Deletes acknowledged pushes that are still stored; after a failure ``sweepWhatFailed()`` repeats it.
  private func sweepSoon(_ devices: [DeviceID]) {
    environment.start { [self] in
      for (index, device) in devices.enumerated() {
        do { try await sweep(device) } catch {
          return state.withLock { $0.unswept.formUnion(devices[index...]) }
        }
      }
    }
  }

  /// Repeats failed deletions, for at most ``sweptAtOnce`` devices.
  func sweepWhatFailed() {
    let due = state.withLock { state -> [DeviceID] in
      let due = Array(state.unswept.prefix(Self.sweptAtOnce))
      state.unswept.subtract(due)
      return due
    }
    if !due.isEmpty { sweepSoon(due) }
  }

  /// Returns the numbers of `replaceable` that have left in another way at this gateway.
  package func acknowledge(_ device: DeviceID, through seq: UInt64, replaceable: [UInt64]) -> [UInt64] {
    let ended = change(device) { cache in replaceable.filter { cache.gone.contains($0) } }
    acknowledge(device, through: seq)
    return ended
  }

  private func delete(_ numbers: [UInt64], of device: DeviceID) {
    let stream = streams.stream(of: device)
    for seq in numbers {
      engine.delete(stream, sequence: seq) { [weak self] answer in
        guard case .failure(let error) = answer, !error.isNotFound else { return }
        self?.state.withLock { _ = $0.unswept.insert(device) }
      }
    }
  }

  /// Verifies a claimed acknowledgement against the stream, and deletes all acknowledged pushes, including pushes that
  /// this gateway has not cached.
  func sweep(_ device: DeviceID) async throws {
    let (partition, stream) = (partition(of: device), streams.stream(of: device))
    let claimed = change(device) { $0.claimed }
    if claimed > 0 {
      // The leader may be cut off, and its last number outdated. A mark has a number that a majority has stored.
      let end = try await mark(partition)
      let left = change(device) { cache -> [(seq: UInt64, push: MailboxCache.Push)] in
        if cache.claimed == claimed { cache.claimed = 0 }
        return claimed < end ? cache.acknowledge(through: claimed) : []
      }
      remember(left.map(\.push), of: device)
      delete(left.map(\.seq), of: device)
    }
    let through = change(device) { $0.acknowledged }
    guard through > 0 else { return }
    // The broker purges by number: a read could be answered by a lagging replica.
    try await engine.purge(stream, subject: streams.pushes(of: device), below: through &+ 1)
    change(device) { $0.noteSwept(through: through) }
    if let found = try await engine.lastMessage(stream, subject: streams.gap(of: device)),
      let gap = try? decodeJSON(MailboxGap.self, from: found.body), gap.to <= through
    {
      delete([found.sequence], of: device)
    }
  }

  // MARK: Removing

  /// Deletes pushes, and reports the removal of pushes that still existed. A push that can't be deleted stays pending.
  ///
  /// - Returns: the removals of pushes that existed, and true for `isDurable` if none exists any longer.
  @discardableResult
  func remove(
    _ removals: [MailboxRemoval], _ numbers: [UInt64], of device: DeviceID
  ) async -> (left: [MailboxRemoval], isDurable: Bool) {
    let stream = streams.stream(of: device)
    let dueBy = now() + Int64(Limits.duplicateWindow)
    let (due, pushes) = change(device) { cache in
      var (due, pushes): ([(MailboxRemoval, UInt64)], [MailboxCache.Push]) = ([], [])
      for (removal, seq) in zip(removals, numbers) {
        let known = cache.pushes[seq]
        guard cache.remove(seq) else { continue }
        due.append((removal, seq))
        // For a push that is not cached, the origin of its id is also not known; it is treated as a sender's.
        pushes.append(
          known ?? MailboxCache.Push(app: removal.app, id: removal.id, isSenderID: true, expires: 0, dueBy: dueBy))
      }
      return (due, pushes)
    }
    guard !due.isEmpty else { return ([], true) }
    remember(pushes, of: device)
    let ends: [Deletion] = await withTaskGroup(of: (Int, Deletion).self) { group in
      for (index, (_, seq)) in due.enumerated() {
        group.addTask { (index, await self.deletion(of: seq, stream)) }
      }
      var ends = Array(repeating: Deletion.failed, count: due.count)
      for await (index, end) in group { ends[index] = end }
      return ends
    }
    let left = zip(due, ends).filter { $0.1 == .done }.map(\.0.0)
    if !left.isEmpty { removed(left) }
    let failed = zip(due, ends).filter { $0.1 == .failed }.map(\.0.1)
    for seq in failed { change(device) { $0.restore(seq) } }
    return (left, failed.isEmpty)
  }

  package func purge(_ devices: [DeviceID], app: AppID?, completion: @escaping @Sendable (Bool) -> Void) {
    takeOut(.unregistered, from: devices, completion) {
      app == nil || $0.app == app
    } then: { [self] device in
      let stream = streams.stream(of: device)
      try await engine.purge(stream, subject: streams.slots(of: device, app: app))
      if app == nil { try await engine.purge(stream, subject: streams.gap(of: device)) }
    }
  }

  package func retract(
    _ id: APNSID, app: AppID?, from devices: [DeviceID], completion: @escaping @Sendable (Bool) -> Void
  ) {
    takeOut(.retracted, from: devices, completion) { $0.id == id && (app == nil || $0.app == app) }
  }

  /// Removes the matching pushes that were appended so far, each device in the order of its queue.
  private func takeOut(
    _ cause: RemovalCause, from devices: [DeviceID], _ completion: @escaping @Sendable (Bool) -> Void,
    where isDue: @escaping @Sendable (StoredPush) -> Bool,
    then: @escaping @Sendable (DeviceID) async throws -> Void = { _ in }
  ) {
    guard !devices.isEmpty else { return completion(true) }
    let latch = CountdownLatch(devices.count, done: completion)
    queue.async { [self] in
      for device in devices {
        take(
          .alone { [self] in
            environment.start { [self] in
              let isDurable = await takeOut(cause, from: device, where: isDue, then: then)
              queue.async { [self] in for start in change(device, { $0.turns.endAlone() }) { start() } }
              latch.countDown(hasSucceeded: isDurable)
            }
          }, of: device)
      }
    }
  }

  private func takeOut(
    _ cause: RemovalCause, from device: DeviceID, where isDue: (StoredPush) -> Bool,
    then: (DeviceID) async throws -> Void
  ) async -> Bool {
    do {
      let due = try await all(of: device).filter { isDue($0.push) }
      let removals = due.map { MailboxRemoval(device: device, app: $0.push.app, id: $0.push.id, cause: cause) }
      guard await remove(removals, due.map(\.seq), of: device).isDurable else { return false }
      try await then(device)
      return true
    } catch {
      if let error = error as? JetStreamError { note(error) }
      return false
    }
  }

  package func discard(_ device: DeviceID, seq: UInt64) {
    queue.async { [self] in
      let ticket = tickets.take()
      let known = change(device) { $0.pushes[seq] }
      environment.start { [self] in
        if let known {
          await remove(
            [MailboxRemoval(device: device, app: known.app, id: known.id, cause: .undeliverable)], [seq], of: device)
        } else if seq > 0, seq < .max, let found = try? await engine.message(streams.stream(of: device), sequence: seq),
          found.subject == streams.pushes(of: device),
          let push = PushHeaders.read(found.headers, found.body, of: device)
        {
          await remove(
            [MailboxRemoval(device: device, app: push.app, id: push.id, cause: .undeliverable)], [seq], of: device)
        }
        queue.async { [self] in tickets.done(ticket) {} }
      }
    }
  }

  package func expire(now: Int64) {
    sweepWhatFailed()
    let due = state.withLock { $0.expired(by: now) }
    guard !due.isEmpty else { return }
    queue.async { [self] in
      let ticket = tickets.take()
      environment.start { [self] in
        for (device, pushes) in due {
          let removals = pushes.map {
            MailboxRemoval(device: device, app: $0.push.app, id: $0.push.id, cause: .expired)
          }
          await remove(removals, pushes.map(\.seq), of: device)
        }
        queue.async { [self] in tickets.done(ticket) {} }
      }
    }
  }
}

extension JetStreamMailbox.State {
  /// Returns the cached pending pushes that have expired.
  mutating func expired(by now: Int64) -> [DeviceID: [(seq: UInt64, push: MailboxCache.Push)]] {
    var due: [DeviceID: [(seq: UInt64, push: MailboxCache.Push)]] = [:]
    let slice = now / JetStreamMailbox.expirySlice
    for key in expiring.keys where key <= slice {
      let items = expiring[key] ?? []
      let rest = items.filter { item in
        guard let push = caches[item.device]?.pushes[item.seq] else { return false }
        guard push.expires <= now else { return true }
        due[item.device, default: []].append((item.seq, push))
        return false
      }
      expiring[key] = rest.isEmpty ? nil : rest
      expiringCount -= items.count - rest.count
    }
    return due
  }
}
