import PushCore

/// The pushes that a test expects: `POST /test/v1/expect`.
struct PushExpectation: Sendable {
  /// The token of the test; nil for pushes to any token.
  var token: String?
  var conditions: [PushCondition] = []
  /// The number of pushes; 0 expects none.
  var count = 1
  var state = PushState.accepted
  /// The time in which the pushes have to come, or without a push if none is expected.
  var within = Duration.seconds(2)
  /// The number above which pushes are considered.
  var since = 0
  /// True if no more than ``count`` pushes may match.
  var isExact = false
  /// The time without a push after which no more are expected, if ``isExact``.
  var idle = Duration.milliseconds(200)

  /// The longest time of an expectation, in seconds.
  static let maximumTime = 60.0
  static let maximumCount = 10_000

  init(_ request: ControlRequest) throws(Problem) {
    var body = try TestRequestBody(request)
    token = try body.text("token").map(RecordedToken.text)
    if let members = try body.object("match") {
      do throws(PushCondition.Invalid) {
        conditions = try PushCondition.list(members)
      } catch {
        throw TestRequestBody.problem("match.\(error.field)", error.problem)
      }
    }
    count = try body.integer("count", in: 0...PushExpectation.maximumCount) ?? count
    state = try body.word("state") ?? state
    within = try body.duration("within", atMost: PushExpectation.maximumTime) ?? within
    since = try body.integer("since", in: 0...Int.max) ?? since
    isExact = try body.boolean("exactly") ?? isExact
    idle = try body.duration("idle", atMost: PushExpectation.maximumTime) ?? idle
    try body.end()
  }

  /// An expectation of one accepted push to a token.
  init(token: String? = nil) { self.token = token }

  /// Throws a problem that names the field if a regular expression took all of its steps.
  ///
  /// - Parameter prefix: the name of the object with the conditions in the request, and a point; empty for a query.
  func checkCost(_ prefix: String = "") throws(Problem) {
    guard let exhaustion = conditions.lazy.compactMap(\.exhaustion).first else { return }
    throw TestRequestBody.problem(prefix + exhaustion.field, exhaustion.problem)
  }

  /// Returns true if an expectation includes a push.
  func isMet(by push: RecordedPush) -> Bool {
    push.isIn(state) && conditions.allSatisfy { $0.isMet(by: push) }
  }

  /// Returns the same, and compares the constant fields of a push only once.
  ///
  /// - Parameter known: the results of these comparisons, by the numbers of pushes.
  func isMet(by push: RecordedPush, _ known: inout [Int: Bool]) -> Bool {
    guard push.isIn(state) else { return false }
    let isFixedMet = known[push.number] ?? conditions.allSatisfy { !$0.field.isFixed || $0.isMet(by: push) }
    known[push.number] = isFixedMet
    return isFixedMet && conditions.allSatisfy { $0.field.isFixed || $0.isMet(by: push) }
  }

  /// The verdict on the pushes at some time.
  enum Verdict: Sendable, Equatable {
    case fulfilled
    case failed
    /// Not decided before this time, unless a push comes.
    case open(until: ContinuousClock.Instant)
  }

  /// Judges the number of matching pushes.
  ///
  /// - Parameters:
  ///   - lastArrival: the arrival of the last push to the token, whether or not it matches.
  ///   - start: the beginning of the expectation.
  func verdict(
    matching matched: Int, lastArrival: ContinuousClock.Instant?, start: ContinuousClock.Instant,
    now: ContinuousClock.Instant
  ) -> Verdict {
    let quietSince = max(lastArrival ?? start, start)
    let limit = start + .seconds(PushExpectation.maximumTime)
    if count == 0 {
      if matched > 0 { return .failed }
      let end = min(quietSince + within, limit)
      return now >= end ? .fulfilled : .open(until: end)
    }
    guard matched >= count else {
      let end = start + within
      return now >= end ? .failed : .open(until: end)
    }
    guard isExact else { return .fulfilled }
    if matched > count { return .failed }
    let end = min(quietSince + idle, limit)
    return now >= end ? .fulfilled : .open(until: end)
  }
}

/// The text of a token in the record.
enum RecordedToken {
  /// Returns a device token in lower case, and any other text unchanged.
  static func text(_ text: String) -> String {
    DeviceToken(hex: Array(text.utf8).span)?.hex ?? text
  }
}
