import Synchronization

/// What waits for answers: by the last token of the subject to which the answer comes.
final class RequestTable: Sendable {
  enum Completion {
    case one(@Sendable (Result<NATSMessage, NATSError>) -> Void)
    case many(@Sendable (Result<[NATSMessage], NATSError>) -> Void, messages: [NATSMessage], timeout: Duration)

    /// Ends it with what went wrong.
    func fail(_ error: NATSError) {
      switch self {
      case .one(let completion): completion(.failure(error))
      case .many(let completion, _, _): completion(.failure(error))
      }
    }
  }

  private struct Entry {
    var completion: Completion
    var deadline: ContinuousClock.Instant
  }

  private struct State {
    var last: UInt64 = 0
    var waiting: [UInt64: Entry] = [:]
    var end: NATSError?
  }

  private let state = Mutex(State())

  /// - Returns: its number; nil when the table is closed, which the completion was told.
  func add(_ completion: Completion, timeout: Duration) -> UInt64? {
    let added = state.withLock { state -> Result<UInt64, NATSError> in
      if let end = state.end { return .failure(end) }
      state.last += 1
      state.waiting[state.last] = Entry(completion: completion, deadline: .now + timeout)
      return .success(state.last)
    }
    switch added {
    case .success(let number): return number
    case .failure(let error):
      completion.fail(error)
      return nil
    }
  }

  /// An answer has come; one that nobody waits for any longer is dropped.
  func answer(_ number: UInt64, _ message: NATSMessage) {
    let status = message.status
    let ended = state.withLock { state -> Completion? in
      guard var entry = state.waiting[number] else { return nil }
      if case .many(let completion, var messages, let timeout) = entry.completion {
        // Taken out first, so that the list is not copied for each message.
        state.waiting[number] = nil
        entry.completion = .many({ _ in }, messages: [], timeout: timeout)
        messages.append(message)
        entry.completion = .many(completion, messages: messages, timeout: timeout)
        guard status == nil else { return entry.completion }
        entry.deadline = .now + timeout
        state.waiting[number] = entry
        return nil
      }
      state.waiting[number] = nil
      return entry.completion
    }
    switch ended {
    case nil: break
    case .one(let completion): completion(status == 503 ? .failure(.noResponders) : .success(message))
    case .many(let completion, let messages, _):
      completion(status == 503 ? .failure(.noResponders) : .success(messages))
    }
  }

  /// A request could not be sent.
  func fail(_ number: UInt64, _ error: NATSError) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.completion.fail(error)
  }

  /// Ends everything that waits, and what comes later when `isFinal`.
  func failAll(_ error: NATSError, isFinal: Bool = false) {
    let ended = state.withLock { state in
      if isFinal { state.end = error }
      defer { state.waiting = [:] }
      return state.waiting.sorted { $0.key < $1.key }.map(\.value)
    }
    for entry in ended { entry.completion.fail(error) }
  }

  /// Ends what has waited for too long.
  func sweep(now: ContinuousClock.Instant = .now) {
    let ended = state.withLock { state -> [Entry] in
      let late = state.waiting.filter { $0.value.deadline <= now }
      for number in late.keys { state.waiting[number] = nil }
      return late.sorted { $0.key < $1.key }.map(\.value)
    }
    for entry in ended { entry.completion.fail(.timedOut) }
  }

  var count: Int { state.withLock { $0.waiting.count } }
}
