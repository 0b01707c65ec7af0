/// The maximum number of alerts from an app within the hour before one push, by its reason.
enum AlertQuota: Sendable, Equatable {
  /// The number that the user has set.
  case chosen(Int)
  /// The number for a device that was away: further alerts are in a summary.
  case absence
  /// The default.
  case standard

  var count: Int {
    switch self {
    case .chosen(let count): count
    case .absence: Policy.returnBudget
    case .standard: AlertBudget.standardCount
    }
  }
}

extension Policy {
  /// The time in seconds after which a pending push counts as received while the user was away.
  static let absence: Int64 = 600
  /// The number of alerts from one app shown to a returning user without a budget preference: the rest is in a
  /// summary.
  static let returnBudget = 10

  /// Returns the alert limit of an app; nil if it has none.
  ///
  /// Without a limit, a decision is independent of earlier alerts, and the alert is not counted.
  ///
  /// - Parameter isQuestion: true for a question whose sender waits for the answer (`pushcli ask`).
  static func alertQuota(
    of app: AppPreferences?, for push: PushNotification, isQuestion: Bool = false, received: Int64, at now: Int64,
    isCatchingUp: Bool
  ) -> AlertQuota? {
    switch app?.alertBudget ?? .standard {
    case .alerts(let count): return .chosen(count)
    case .unlimited: return nil
    case .standard:
      if isQuestion { return nil }
      if isCatchingUp, now - received > absence { return .absence }
      if push.claimedLevel >= .timeSensitive { return nil }
      return .standard
    }
  }
}
