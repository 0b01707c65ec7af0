/// The pauses between failed attempts, with full jitter, so that clients that failed together do not
/// reconnect together.
///
/// Each pause is random between ``shortest`` and a bound, which doubles from the first to the last.
package struct Backoff: Sendable {
  /// The minimum pause, so that no client retries immediately.
  package static let shortest = Duration.milliseconds(50)

  private let first: Duration
  private let last: Duration
  /// The maximum of the next pause.
  package private(set) var bound: Duration

  /// - Parameters:
  ///   - first: The maximum of the first pause; at least ``shortest``.
  ///   - last: The maximum of all pauses.
  package init(first: Duration, last: Duration) {
    precondition(Backoff.shortest <= first && first <= last, "the bound of a pause grows from the first to the last")
    self.first = first
    self.last = last
    bound = first
  }

  /// Returns the pause before the next attempt, and doubles the bound.
  package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    defer { bound = min(bound * 2, last) }
    let part = Double(generator.next() >> 11) / 0x1p53
    return Backoff.shortest + (bound - Backoff.shortest) * part
  }

  /// Returns the pause before the next attempt, and doubles the bound.
  package mutating func next() -> Duration {
    var generator = SystemRandomNumberGenerator()
    return next(using: &generator)
  }

  /// Resets the bound to that of the first pause, after a successful attempt.
  package mutating func reset() { bound = first }
}
