import PushCore
import PushPolicy

/// What one loop counts of the rules of the policy, each by its name.
final class PolicyMeter: Sendable {
  /// The names, in the order of the counts: the rules, and what checks the schema of `aps`.
  static let rules = Rule.allCases.map(\.rawValue) + [PolicyMeter.schemaRule]

  /// What checks the schema of `aps`, as it is named beside the rules.
  static let schemaRule = "aps"

  private static let indexes = Dictionary(uniqueKeysWithValues: zip(Rule.allCases, 0...))

  /// Pushes that were refused by a rule on the sender.
  private let refused = Counters(count: PolicyMeter.rules.count)
  /// Pushes that broke such a rule and were accepted, since their app only has it reported.
  private let reported = Counters(count: PolicyMeter.rules.count)
  /// Parts of pushes that were taken off at delivery.
  private let removed = Counters(count: PolicyMeter.rules.count)

  /// In the order of ``rules``.
  var totals: (refused: [UInt64], reported: [UInt64], removed: [UInt64]) {
    (refused.totals, reported.totals, removed.totals)
  }

  /// A push has broken a rule on its sender.
  ///
  /// - Parameter rule: nil: the schema of `aps`.
  func find(_ rule: Rule?, isRefused: Bool) {
    (isRefused ? refused : reported).add(at: PolicyMeter.index(rule))
  }

  /// A part of a push was taken off for one device.
  func remove(by rule: Rule) { removed.add(at: PolicyMeter.index(rule)) }

  private static func index(_ rule: Rule?) -> Int { rule.flatMap { indexes[$0] } ?? rules.count - 1 }
}
