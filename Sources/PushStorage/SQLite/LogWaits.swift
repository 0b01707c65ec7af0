import PushCore
import Synchronization

/// Who waits for rows of the delivery log: the writer tells them, and nobody searches meanwhile.
final class LogWaits: Sendable {
  /// One who waits.
  final class Wait: Sendable {
    let query: DeliveryLog.Query
    private let state = Mutex((isNotified: false, isOver: false, waiting: CheckedContinuation<Void, Never>?.none))

    init(_ query: DeliveryLog.Query) { self.query = query }

    /// Whether nothing is waited for any longer.
    var isOver: Bool { state.withLock(\.isOver) }

    /// There is something to see.
    func notify() { resume { $0.isNotified = true } }

    /// The time is up, or nobody wants to know.
    func end() {
      resume { state in
        state.isNotified = true
        state.isOver = true
      }
    }

    private func resume(
      _ change: (inout (isNotified: Bool, isOver: Bool, waiting: CheckedContinuation<Void, Never>?)) -> Void
    ) {
      let waiting = state.withLock { state in
        change(&state)
        defer { state.waiting = nil }
        return state.waiting
      }
      waiting?.resume()
    }

    /// Returns when there is something to see, or the wait is over.
    func next() async {
      await withCheckedContinuation { continuation in
        let isNotified = state.withLock { state in
          if !state.isNotified { state.waiting = continuation }
          defer { state.isNotified = state.isOver }
          return state.isNotified
        }
        if isNotified { continuation.resume() }
      }
    }
  }

  private struct State {
    /// Who waits for one push, by its id.
    var byID: [APNSID: [ObjectIdentifier: Wait]] = [:]
    var others: [ObjectIdentifier: Wait] = [:]
  }

  private let state = Mutex(State())
  private let count = Atomic<Int>(0)

  /// Begins to wait; nil when ``Limits/maximumLogWaits`` wait already.
  func begin(_ query: DeliveryLog.Query) -> Wait? {
    guard count.add(1, ordering: .relaxed).newValue <= Limits.maximumLogWaits else {
      count.subtract(1, ordering: .relaxed)
      return nil
    }
    let wait = Wait(query)
    state.withLock { state in
      if let id = query.id {
        state.byID[id, default: [:]][ObjectIdentifier(wait)] = wait
      } else {
        state.others[ObjectIdentifier(wait)] = wait
      }
    }
    return wait
  }

  /// Forgets one who waited.
  func end(_ wait: Wait) {
    state.withLock { state in
      guard let id = wait.query.id else { return state.others[ObjectIdentifier(wait)] = nil }
      state.byID[id]?[ObjectIdentifier(wait)] = nil
      if state.byID[id]?.isEmpty == true { state.byID[id] = nil }
    }
    count.subtract(1, ordering: .relaxed)
  }

  /// Tells those who wait for one of these rows, which have been written.
  func note(_ batch: borrowing LogBatch) {
    // What it costs while nobody waits.
    guard count.load(ordering: .relaxed) > 0 else { return }
    let bytes = batch.bytes
    let waits = state.withLock { state in
      var found = state.others
      let rows = LogBatch.rows(bytes) { _, row in
        if let waiting = state.byID[row.id] {
          for (key, wait) in waiting where wait.query.matches(row) { found[key] = wait }
        }
        return false
      }
      assert(rows.isEmpty, "no row is made")
      return found.values
    }
    for wait in waits { wait.notify() }
  }
}

extension DeliveryLog {
  /// Waits for rows that match, and returns those that are there already at once.
  ///
  /// - Parameter time: how long at most; then the page is empty, and its ``Page/next`` is where to wait on.
  /// - Returns: nil when ``Limits/maximumLogWaits`` wait already.
  package func nextPage(_ query: Query, within time: Duration) async throws -> Page? {
    guard let wait = waits.begin(query) else { return nil }
    defer { waits.end(wait) }
    let timer = Task {
      try? await Task.sleep(for: time, clock: .continuous)
      wait.end()
    }
    defer { timer.cancel() }
    return try await withTaskCancellationHandler {
      var query = query
      while true {
        // First whether it is over: what comes after that is the next one's.
        let isOver = wait.isOver
        let page = try await page(query)
        if isOver || !page.records.isEmpty { return page }
        query.after = page.next
        await wait.next()
      }
    } onCancel: {
      wait.end()
    }
  }
}
