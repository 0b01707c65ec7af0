package import PushCore

extension DeliveryLog {
  /// Waits for rows that match, and returns those that are there already at once.
  ///
  /// - Parameters:
  ///   - device: the device that waits; nil: an administrator.
  ///   - time: how long at most; then the page is empty, and its ``Page/next`` is where to wait on.
  /// - Returns: nil when there are too many waits (``LogWaits/begin(_:for:)``).
  package func nextPage(_ query: Query, for device: DeviceID? = nil, within time: Duration) async throws -> Page? {
    var query = query
    return try await wait(for: query.id, by: device, within: time) {
      // A search that is cancelled fails, and who waited is told what there is.
      let page = try await Task { [query] in try await self.page(query) }.value
      query.after = page.next
      return (page, isEmpty: page.records.isEmpty)
    }
  }

  /// Reads again and again until there is something, whenever rows have been written.
  ///
  /// - Parameters:
  ///   - id: whose rows are waited for; nil: any.
  ///   - device: the device that waits; nil: an administrator.
  ///   - time: how long at most; then what was read last is returned.
  ///   - interval: how often to look without being told of anything; nil: never.
  ///   - read: what is there now, and whether that is nothing.
  /// - Returns: nil when there are too many waits (``LogWaits/begin(_:for:)``).
  package func wait<Found>(
    for id: APNSID?, by device: DeviceID?, within time: Duration, lookingEach interval: Duration? = nil,
    _ read: () async throws -> (found: Found, isEmpty: Bool)
  ) async throws -> Found? {
    guard let wait = waits.begin(id, for: device) else { return nil }
    defer { waits.end(wait) }
    let timer = Task {
      let end = ContinuousClock.now + time
      while let interval, ContinuousClock.now + interval < end, !Task.isCancelled {
        try? await Task.sleep(for: interval, clock: .continuous)
        wait.notify()
      }
      try? await Task.sleep(until: end, clock: .continuous)
      wait.end()
    }
    defer { timer.cancel() }
    return try await withTaskCancellationHandler {
      while true {
        // First whether it is over: what comes after that is the next one's.
        let isOver = wait.isOver
        let (found, isEmpty) = try await read()
        if isOver || !isEmpty { return found }
        await wait.next()
      }
    } onCancel: {
      wait.end()
    }
  }

  // MARK: Rows of other gateways

  /// So many pushes are told of by name at once; of more it is only said that there are some.
  private static let maximumToldIDs = 4_096

  /// Has other gateways told of rows that were written.
  ///
  /// - Parameters:
  ///   - isWanted: whether anybody elsewhere waits for rows; asked for each batch, on the writer's thread.
  ///   - tell: takes the ids of the rows' pushes, as ``noteElsewhere(_:)`` takes them.
  package func onWritten(
    while isWanted: @escaping @Sendable () -> Bool, tell: @escaping @Sendable ([UInt8]) -> Void
  ) {
    listen { rows in
      guard isWanted() else { return }
      var ids: Set<APNSID> = []
      LogLayout.forEachID(of: rows) { ids.insert($0) }
      tell(ids.count > DeliveryLog.maximumToldIDs ? [] : ids.flatMap(\.stored))
    }
  }

  /// Tells those who wait here of rows that another gateway has written.
  ///
  /// - Parameter ids: of their pushes; none: of any.
  package func noteElsewhere(_ ids: [UInt8]) {
    let size = APNSID.storedSize
    guard !ids.isEmpty, ids.count % size == 0, ids.count / size <= DeliveryLog.maximumToldIDs else {
      return waits.note(nil)
    }
    let known = stride(from: 0, to: ids.count, by: size).compactMap { APNSID(stored: Array(ids[$0..<$0 + size])) }
    waits.note(known)
  }
}
