import Synchronization

/// The requests without an answer yet, by the last token of the subject to which the answer is sent.
final class RequestTable: Sendable {
  enum Completion {
    case one(@Sendable (Result<NATSMessage, NATSError>) -> Void)
    case many(@Sendable (Result<[NATSMessage], NATSError>) -> Void, messages: [NATSMessage], timeout: Duration)

    /// Completes the request with an error.
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

  /// Adds a request.
  ///
  /// - Returns: its number; nil when the table is closed, in which case the completion is called with the error.
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

  /// Takes an answer; an answer to a request that has ended is dropped.
  func answer(_ number: UInt64, _ message: NATSMessage) {
    let status = message.status
    let ended = state.withLock { state -> Completion? in
      guard var entry = state.waiting[number] else { return nil }
      if case .many(let completion, var messages, let timeout) = entry.completion {
        // Removed first, so that the list is not copied for each message.
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

  /// Ends a request that could not be sent.
  func fail(_ number: UInt64, _ error: NATSError) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.completion.fail(error)
  }

  /// Ends all pending requests, and later ones too if `isFinal` is true.
  func failAll(_ error: NATSError, isFinal: Bool = false) {
    let ended = state.withLock { state in
      if isFinal { state.end = error }
      defer { state.waiting = [:] }
      return state.waiting.sorted { $0.key < $1.key }.map(\.value)
    }
    for entry in ended { entry.completion.fail(error) }
  }

  /// Ends the requests whose deadline has passed.
  func sweep(now: ContinuousClock.Instant = .now) {
    let ended = state.withLock { state -> [Entry] in
      let late = state.waiting.filter { $0.value.deadline <= now }
      for number in late.keys { state.waiting[number] = nil }
      return late.sorted { $0.key < $1.key }.map(\.value)
    }
    for entry in ended { entry.completion.fail(.timedOut) }
  }
}
