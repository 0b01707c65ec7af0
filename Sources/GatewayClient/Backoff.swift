/// The pauses between attempts that fail: full jitter, so that those who failed together do not come back together.
///
/// Each pause is random between ``shortest`` and a bound, which doubles from the first to the last.
package struct Backoff: Sendable {
  /// So that nobody tries again at once.
  package static let shortest = Duration.milliseconds(50)

  private let first: Duration
  private let last: Duration
  /// The longest that the next pause can be.
  package private(set) var bound: Duration

  /// - Parameters:
  ///   - first: The longest that the first pause can be; more than ``shortest``.
  ///   - last: The longest that any can be.
  package init(first: Duration, last: Duration) {
    precondition(Backoff.shortest <= first && first <= last, "the bound of a pause grows from the first to the last")
    self.first = first
    self.last = last
    bound = first
  }

  /// The pause before the next attempt.
  package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    defer { bound = min(bound * 2, last) }
    let part = Double(generator.next() >> 11) / 0x1p53
    return Backoff.shortest + (bound - Backoff.shortest) * part
  }

  /// The pause before the next attempt.
  package mutating func next() -> Duration {
    var generator = SystemRandomNumberGenerator()
    return next(using: &generator)
  }

  /// An attempt has succeeded: the next pause is a first one.
  package mutating func reset() { bound = first }
}
