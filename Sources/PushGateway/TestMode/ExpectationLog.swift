import DequeModule
import Synchronization

/// The results of the last expectations of all tests, for the page of a test gateway. Safe on any thread.
final class ExpectationLog: Sendable {
  /// The result of one expectation.
  struct Entry: Sendable {
    /// The number in the order of the results, from 1.
    var number: Int
    /// The time of the result in milliseconds since 1970, by the clock of the gateway.
    var at: Int64
    /// The token of the test; nil for pushes to any token.
    var token: String?
    var isFulfilled: Bool
    /// One line for the user.
    var words: String
    /// The nearest pushes by their numbers; empty for an expectation that is fulfilled.
    var nearest: [JSONValue]
  }

  private struct State {
    var entries = Deque<Entry>()
    var last = 0
  }

  /// The maximum number of results. A body of a request limits the size of each.
  static let maximumCount = 200

  private let state = Mutex(State())

  /// Adds a result, and removes the oldest beyond the limit.
  func note(_ result: ExpectationResult, at time: Int64) {
    let nearest = result.isFulfilled ? [] : result.nearestJSON { .integer($0.number) }
    let (token, isFulfilled, words) = (result.expectation.token, result.isFulfilled, result.words)
    state.withLock { state in
      state.last += 1
      state.entries.append(
        Entry(
          number: state.last, at: time, token: token, isFulfilled: isFulfilled, words: words, nearest: nearest))
      if state.entries.count > ExpectationLog.maximumCount { _ = state.entries.popFirst() }
    }
  }

  /// The results in their order.
  var entries: [Entry] { state.withLock { Array($0.entries) } }
}

extension ExpectationLog.Entry {
  /// The result as the test API shows it.
  var json: JSONValue {
    [
      "number": .integer(number), "at": .timestamp(at), "fulfilled": .bool(isFulfilled), "detail": .string(words),
      "nearest": .array(nearest),
    ]
  }
}
