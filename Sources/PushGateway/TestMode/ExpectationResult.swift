import PushPolicy

/// The outcome of an expectation: the pushes that match, and if it failed, the nearest others.
struct ExpectationResult: Sendable {
  /// A field of a push that differs from an expectation.
  struct Difference: Sendable, Equatable {
    var field: String
    var expected: JSONValue
    /// The value of the push; nil if it has none.
    var found: JSONValue?
  }

  let expectation: PushExpectation
  let isFulfilled: Bool
  let matched: [RecordedPush]
  /// The pushes that do not match with the fewest differences, of equal ones the last; empty if the expectation is fulfilled.
  let nearest: [(push: RecordedPush, differences: [Difference])]
  let view: PushRecorder.View

  /// The maximum number of ``nearest`` pushes.
  static let nearestCount = 3

  init(_ expectation: PushExpectation, isFulfilled: Bool, _ view: PushRecorder.View) {
    (self.expectation, self.isFulfilled, self.view) = (expectation, isFulfilled, view)
    var matched: [RecordedPush] = []
    var others: [(push: RecordedPush, differences: [Difference])] = []
    for push in view.pushes {
      // A regular expression takes time: it is compared once with each push.
      let differences = ExpectationResult.differences(of: push, from: expectation)
      if differences.isEmpty {
        matched.append(push)
      } else if !isFulfilled {
        others.append((push, differences))
      }
    }
    others.sort { ($0.differences.count, -$0.push.number) < ($1.differences.count, -$1.push.number) }
    self.matched = matched
    nearest = Array(others.prefix(ExpectationResult.nearestCount))
  }

  /// Returns the conditions that a push does not meet; none if the expectation includes it.
  private static func differences(of push: RecordedPush, from expectation: PushExpectation) -> [Difference] {
    var differences = expectation.conditions.filter { !$0.isMet(by: push) }.map {
      Difference(field: $0.name, expected: $0.expected, found: $0.field.value(in: push))
    }
    if !push.isIn(expectation.state) {
      let found = push.states.map(\.rawValue).joined(separator: " ")
      differences.append(
        Difference(
          field: "state", expected: .string(expectation.state.rawValue),
          found: .string(found.isEmpty ? push.outcome.rawValue : found)))
    }
    return differences
  }

  /// The reason of a refusal, or the rule by which a part was suppressed, in words; nil for any other push.
  static func cause(of push: RecordedPush) -> String? {
    if push.outcome == .refused {
      let answer = "the push was refused with \(push.status ?? 0) \(push.reason ?? "")"
      guard let finding = push.findings.first(where: \.isRefused) else { return answer }
      return "\(answer): rule \(finding.rule) at \(finding.pointer): \(finding.message)"
    }
    if push.outcome == .reset { return "the request ended without an answer" }
    guard !push.suppressed.isEmpty else { return nil }
    return push.suppressed.map { removal in
      "the \(removal.part.rawValue) was removed by rule \(removal.rule.rawValue) (\(removal.setting))"
    }.joined(separator: "; ")
  }

  /// One line for the user.
  var words: String {
    let state = expectation.state == .any ? "" : "\(expectation.state.rawValue) "
    let noun = expectation.count == 1 ? "push" : "pushes"
    let number = expectation.count == 0 ? "no" : "\(expectation.count)"
    let place = expectation.token.map { " to \($0.prefix(8))…" } ?? ""
    return "expected \(number) \(state)\(noun)\(place), found \(matched.count) of \(view.pushes.count) within "
      + "\(expectation.within.formatted)"
  }

  /// The answer of the test API.
  var json: JSONValue {
    var members: [String: JSONValue] = [
      "pushes": .array(matched.map(\.json)), "last": .integer(view.last), "dropped": .integer(view.dropped),
    ]
    guard !isFulfilled else { return .object(members) }
    members["status"] = 417
    members["title"] = "Expectation Failed"
    members["detail"] = .string(words)
    members["expected"] = .integer(expectation.count)
    members["matched"] = .integer(matched.count)
    members["recorded"] = .integer(view.pushes.count)
    members["nearest"] = .array(nearestJSON(\.json))
    return .object(members)
  }

  /// Returns the nearest pushes with their differences.
  ///
  /// - Parameter shown: returns a push as JSON.
  func nearestJSON(_ shown: (RecordedPush) -> JSONValue) -> [JSONValue] {
    nearest.map { push, differences in
      var members: [String: JSONValue] = ["push": shown(push), "differences": .array(differences.map(\.json))]
      members["cause"] = ExpectationResult.cause(of: push).map { .string($0) }
      return .object(members)
    }
  }
}

extension ExpectationResult.Difference {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = ["field": .string(field), "expected": expected]
    members["found"] = found
    return .object(members)
  }
}

extension Duration {
  /// The duration in seconds or milliseconds.
  fileprivate var formatted: String {
    let milliseconds = Int64(self / .milliseconds(1))
    return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
  }
}
