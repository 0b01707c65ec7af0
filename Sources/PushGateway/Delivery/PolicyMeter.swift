import PushCore
import PushPolicy

/// The counters of one event loop for the policy rules, by name.
final class PolicyMeter: Sendable {
  /// The names in the order of the counts: the rules, and the schema check of `aps`.
  static let rules = Rule.allCases.map(\.rawValue) + [PolicyMeter.schemaRule]

  /// The name of the schema check of `aps`, listed with the rules.
  static let schemaRule = "aps"

  private static let indexes = Dictionary(uniqueKeysWithValues: zip(Rule.allCases, 0...))

  /// The numbers of pushes that a rule for senders refused.
  private let refused = Counters(count: PolicyMeter.rules.count)
  /// The numbers of pushes that violated such a rule and were accepted, because their app only reports violations.
  private let reported = Counters(count: PolicyMeter.rules.count)
  /// The numbers of parts that were removed from pushes at delivery.
  private let removed = Counters(count: PolicyMeter.rules.count)

  /// The counts in the order of ``rules``.
  var totals: (refused: [UInt64], reported: [UInt64], removed: [UInt64]) {
    (refused.totals, reported.totals, removed.totals)
  }

  /// Counts a push that violates a rule for senders.
  ///
  /// - Parameter rule: nil: the schema of `aps`.
  func find(_ rule: Rule?, isRefused: Bool) {
    (isRefused ? refused : reported).add(at: PolicyMeter.index(rule))
  }

  /// Counts a part of a push that was removed for one device.
  func remove(by rule: Rule) { removed.add(at: PolicyMeter.index(rule)) }

  private static func index(_ rule: Rule?) -> Int { rule.flatMap { indexes[$0] } ?? rules.count - 1 }
}
