package import PushCore

extension DeliveryLog {
  /// Waits for rows that match. If there are some already, returns them at once.
  ///
  /// - Parameters:
  ///   - device: the device that sent the request; nil: an administrator.
  ///   - time: the maximum time to wait; then the page is empty, and its `next` is the number to continue from.
  /// - Returns: nil if there are too many waits (``LogWaits/begin(_:for:)``).
  package func nextPage(
    _ query: Query, for device: DeviceID? = nil, within time: Duration
  ) async throws -> (records: [Record], next: Int64)? {
    var query = query
    return try await wait(for: query.id, by: device, within: time) {
      // A search in a canceled task fails: in a task of its own it still returns the rows that exist.
      let page = try await Task { [query] in try await self.page(query) }.value
      query.after = page.next
      return (page, isEmpty: page.records.isEmpty)
    }
  }

  /// Reads repeatedly, each time that rows have been written, until a read has a result.
  ///
  /// - Parameters:
  ///   - id: the push whose rows are awaited; nil: any push.
  ///   - device: the device that sent the request; nil: an administrator.
  ///   - time: the maximum time to wait; then the last result is returned.
  ///   - interval: the interval between reads without a notification; nil: none.
  ///   - read: returns the current result, and true if it is empty.
  /// - Returns: nil if there are too many waits (``LogWaits/begin(_:for:)``).
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
        // The end is checked before the read: rows that arrive after it belong to the next wait.
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

  /// The maximum number of push ids in one notification; for more pushes it contains no ids.
  private static let maximumNotifiedIDs = 4_096

  /// Notifies other gateways of rows that were written.
  ///
  /// - Parameters:
  ///   - isAwaited: returns true if a wait on another gateway exists; called for each batch, on the writer's thread.
  ///   - publish: takes the ids of the rows' pushes, in the form that ``noteRemote(_:)`` takes.
  package func onWritten(
    while isAwaited: @escaping @Sendable () -> Bool, publish: @escaping @Sendable ([UInt8]) -> Void
  ) {
    listen { rows in
      guard isAwaited() else { return }
      var ids: Set<APNSID> = []
      LogLayout.forEachID(of: rows) { ids.insert($0) }
      publish(ids.count > DeliveryLog.maximumNotifiedIDs ? [] : ids.flatMap(\.stored))
    }
  }

  /// Notifies the waits on this gateway of rows that another gateway has written.
  ///
  /// - Parameter ids: the ids of the rows' pushes; empty: any push.
  package func noteRemote(_ ids: [UInt8]) {
    let size = APNSID.storedSize
    guard !ids.isEmpty, ids.count % size == 0, ids.count / size <= DeliveryLog.maximumNotifiedIDs else {
      return waits.note(nil)
    }
    let known = stride(from: 0, to: ids.count, by: size).compactMap { APNSID(stored: Array(ids[$0..<$0 + size])) }
    waits.note(known)
  }
}
