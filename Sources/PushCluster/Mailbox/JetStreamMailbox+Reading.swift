import Logging
import NATSClient
package import PushCore
package import PushStorage
import Synchronization

extension JetStreamMailbox {
  package func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
    if change(device, { $0.claimed }) > 0 { try await sweep(device) }
    do {
      async let gap = gap(of: device, after: seq)
      var found = try await read(device, after: seq, limit: limit)
      if found.isOverfull {
        try await trim(device)
        found = try await read(device, after: seq, limit: limit)
        found = try await current(found, of: device, after: seq, limit: limit)
        let later = try await self.gap(of: device, after: seq)
        return found.pending(later)
      }
      found = try await current(found, of: device, after: seq, limit: limit)
      return found.pending(try await gap)
    } catch {
      throw StoreError("the cluster does not report pending pushes: \(error)")
    }
  }

  /// Returns the devices that have a pending push, or may have one: devices for which the cluster can't
  /// answer are included.
  ///
  /// One request covers many devices, and devices without pushes add almost no cost.
  package func havingPushes(_ devices: some Sequence<DeviceID>) async -> [DeviceID] {
    await withTaskGroup(of: [DeviceID].self) { group in
      for (partition, devices) in Dictionary(grouping: devices, by: partition) {
        for start in stride(from: 0, to: devices.count, by: Self.devicesAtOnce) {
          let some = devices[start..<min(start + Self.devicesAtOnce, devices.count)]
          group.addTask { await self.havingPushes(some, in: partition) }
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }

  private static var devicesAtOnce: Int { 250 }

  private func havingPushes(_ devices: ArraySlice<DeviceID>, in partition: Int) async -> [DeviceID] {
    do {
      return try await engine.lastMessages(streams.stream(partition), subjects: devices.map(streams.pushes))
        .compactMap { if case .push(let device) = streams.content(of: $0.subject) { device } else { nil } }
    } catch { return Array(devices) }
  }

  private struct Found {
    var entries: [MailboxEntry] = []
    var isComplete = false
    var isOverfull = false

    /// Returns the pending pushes without the entries that the gap reports as dropped, even if their deletion failed.
    func pending(_ gap: MailboxGap?) -> PendingPushes {
      PendingPushes(gap: gap, entries: entries.filter { $0.seq > gap?.to ?? 0 }, isComplete: isComplete)
    }
  }

  /// Repeats a read until its first push is the first one that the stream has.
  ///
  /// Any replica may have answered the read: one that lags, or one that is cut off from the others, still has pushes
  /// that the device has acknowledged at another gateway. Devices acknowledge in order, so the first push decides. A
  /// mark that a majority of the brokers has stored proves that the leader is not cut off.
  private func current(_ found: Found, of device: DeviceID, after seq: UInt64, limit: Int) async throws -> Found {
    guard !found.entries.isEmpty else { return found }
    _ = try await mark(partition(of: device))
    let (stream, subject) = (streams.stream(of: device), streams.pushes(of: device))
    let end = environment.now() + environment.timeout
    var found = found
    while let first = found.entries.first?.seq {
      let next = try await retrying { () async throws(JetStreamError) in
        try await engine.leaderMessage(stream, nextOf: subject, from: first)
      }
      if next?.sequence == first { break }
      // A new leader may lag, too, so the push may be pending nevertheless.
      guard environment.now() < end else { throw StoreError("a replica of the stream \(stream) is behind") }
      await environment.pause(.milliseconds(50))
      found = try await read(device, after: seq, limit: limit)
    }
    return found
  }

  /// Stores a mark in a stream.
  ///
  /// - Returns: the number of the mark, which is higher than all numbers that were given out before the call.
  func mark(_ partition: Int) async throws(JetStreamError) -> UInt64 {
    let mark = try await retrying { () async throws(JetStreamError) -> UInt64 in
      try await engine.publish(
        streams.mark(partition), headers: [("Nats-Rollup", "sub"), ("Nats-TTL", Self.markLifetime)], []
      ).sequence
    }
    note(mark, in: partition)
    return mark
  }

  private static let markLifetime = "3600s"

  private func read(_ device: DeviceID, after seq: UInt64, limit: Int) async throws -> Found {
    var found = Found()
    var next = max(seq, change(device) { $0.floor }) + 1
    var seen = 0
    while true {
      let page = try await engine.messages(
        streams.stream(of: device), subject: streams.pushes(of: device), from: next,
        limit: min(Self.pageSize, max(1, limit - found.entries.count)), maximumSize: 4 << 20)
      for message in page.messages { try await take(message, of: device, into: &found.entries) }
      seen += page.messages.count
      if let last = page.messages.last {
        let first = next - 1
        change(device) { $0.noteComplete(after: first, through: last.sequence) }
      }
      found.isOverfull = found.isOverfull || seen + Int(clamping: page.remaining) > cap
      guard page.remaining > 0, let last = page.messages.last else {
        found.isComplete = true
        break
      }
      next = last.sequence + 1
      if found.entries.count >= limit { break }
    }
    found.entries = newestOfEach(found.entries)
    // Pushes that left during the read are not returned.
    let gone = change(device) { cache in Set(found.entries.map(\.seq).filter(cache.isGone)) }
    found.entries.removeAll { gone.contains($0.seq) }
    return found
  }

  private func take(_ message: StoredMessage, of device: DeviceID, into entries: inout [MailboxEntry])
    async throws(JetStreamError)
  {
    guard let push = PushHeaders.read(message.headers, message.body, of: device) else {
      logger.log(
        .cellMessageUnreadable, "a mailbox has a message that is not a push", metadata: ["seq": "\(message.sequence)"])
      return
    }
    let isDue =
      switch learn(message.sequence, push) {
      case .new(let isDue): isDue
      case .retry(let first): try await settle(message.sequence, push, after: first)
      }
    guard isDue else { return }
    entries.append(MailboxEntry(seq: message.sequence, previous: entries.last?.seq ?? 0, push: push))
  }

  /// Returns the newest entry of each collapse id: a replaced entry may still exist for a moment.
  private func newestOfEach(_ entries: [MailboxEntry]) -> [MailboxEntry] {
    struct Key: Hashable {
      var app: AppID
      var collapseID: String
    }
    guard entries.contains(where: { !$0.push.collapseID.isEmpty }) else { return entries }
    var seen: Set<Key> = []
    var kept: [MailboxEntry] = []
    for entry in entries.reversed() {
      let key = Key(app: entry.push.app, collapseID: entry.push.collapseID)
      if entry.push.collapseID.isEmpty || seen.insert(key).inserted { kept.append(entry) }
    }
    return kept.reversed()
  }

  func all(of device: DeviceID) async throws -> [MailboxEntry] {
    var entries: [MailboxEntry] = []
    var next = change(device) { $0.floor } + 1
    while true {
      let page = try await engine.messages(
        streams.stream(of: device), subject: streams.pushes(of: device), from: next, limit: Self.pageSize,
        maximumSize: 4 << 20)
      for message in page.messages {
        guard let push = PushHeaders.read(message.headers, message.body, of: device) else { continue }
        entries.append(MailboxEntry(seq: message.sequence, push: push))
      }
      guard page.remaining > 0, let last = page.messages.last else { return entries }
      next = last.sequence + 1
    }
  }

  // MARK: The limit

  private func gap(of device: DeviceID, after seq: UInt64) async throws -> MailboxGap? {
    let found = try await engine.lastMessage(streams.stream(of: device), subject: streams.gap(of: device))
    let (known, acknowledged) = change(device) { ($0.gap, $0.acknowledged) }
    var gap: MailboxGap? = found.flatMap { try? decodeJSON(from: $0.body) }
    if let known, known.to > gap?.to ?? 0 {
      // Either a replica lags, or the device has acknowledged the gap at another gateway: only the leader has the
      // current state.
      let leaders = try await engine.leaderMessage(streams.stream(of: device), lastOf: streams.gap(of: device))
      gap = leaders.flatMap { try? decodeJSON(from: $0.body) }
    }
    return gap.flatMap { $0.to > seq && $0.to > acknowledged ? $0 : nil }
  }

  /// Evicts the oldest pushes beyond the limit, and stores their number for the device.
  func trim(_ device: DeviceID) async throws {
    await withCheckedContinuation { continuation in
      let isMine = change(device) { cache in
        guard cache.isTrimming else {
          cache.isTrimming = true
          return true
        }
        cache.trimWaiters.append(continuation)
        return false
      }
      if isMine { continuation.resume() }
    }
    defer {
      let next = change(device) { cache -> CheckedContinuation<Void, Never>? in
        if cache.trimWaiters.isEmpty {
          cache.isTrimming = false
          return nil
        }
        return cache.trimWaiters.removeFirst()
      }
      next?.resume()
    }
    while try await trimOnce(device) {}
  }

  /// Evicts one page of pushes at most.
  ///
  /// - Returns: true if more pushes may be beyond the limit.
  private func trimOnce(_ device: DeviceID) async throws -> Bool {
    let (stream, subject) = (streams.stream(of: device), streams.pushes(of: device))
    let floor = change(device) { $0.floor }
    var page = try await engine.messages(
      stream, subject: subject, from: floor + 1, limit: Self.pageSize, maximumSize: 1 << 20)
    let total = page.messages.count + Int(clamping: page.remaining)
    page.messages = change(device) { cache in page.messages.filter { !cache.isGone($0.sequence) } }
    guard total > cap, !page.messages.isEmpty else { return false }
    // A lagging replica may return pushes that have left, so the count comes from the leader.
    let count = try await engine.streamInfo(stream, subjects: subject)?.state.subjects?[subject] ?? 0
    let excess = min(total, Int(clamping: count)) - cap
    guard excess > 0 else { return false }
    let dropped = page.messages.prefix(excess)
    guard let first = dropped.first, let last = dropped.last else { return false }
    let gap = try await write(
      MailboxGap(from: first.sequence, to: last.sequence, dropped: dropped.count), of: device, after: floor)
    var (removals, numbers): ([MailboxRemoval], [UInt64]) = ([], [])
    for message in dropped {
      guard let push = PushHeaders.read(message.headers, message.body, of: device) else { continue }
      removals.append(MailboxRemoval(device: device, app: push.app, id: push.id, cause: .overflow))
      numbers.append(message.sequence)
    }
    await remove(removals, numbers, of: device)
    remember(change(device) { $0.drop(gap) }.map(\.push), of: device)
    return excess > dropped.count
  }

  /// Merges a gap with the one that the device has not acknowledged.
  private func write(_ gap: MailboxGap, of device: DeviceID, after floor: UInt64) async throws -> MailboxGap {
    let (stream, subject) = (streams.stream(of: device), streams.gap(of: device))
    let acknowledged = change(device) { $0.acknowledged }
    while true {
      let found = try await engine.leaderMessage(stream, lastOf: subject)
      let stored: MailboxGap? = found.flatMap { try? decodeJSON(from: $0.body) }
      var joined = gap
      if let stored, stored.to > acknowledged {
        joined = MailboxGap(
          from: min(stored.from, gap.from), to: max(stored.to, gap.to), dropped: stored.dropped + gap.dropped)
      }
      do {
        let written = try await engine.publish(
          subject,
          headers: [
            ("Nats-Rollup", "sub"), ("Nats-Expected-Last-Subject-Sequence", "\(found?.sequence ?? 0)"),
          ], controlJSON(joined))
        note(written.sequence, in: partition(of: device))
        return joined
      } catch { guard error.isConflict else { throw error } }
    }
  }
}
