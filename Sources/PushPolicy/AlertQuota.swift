/// The alerts that an app may show within the hour of one push, and why no more.
struct AlertQuota: Sendable, Equatable {
  enum Cause: Sendable {
    /// The person has chosen it.
    case chosen
    /// The device was away: what goes beyond is in a digest.
    case absence
    /// It is the default.
    case standard
  }

  var count: Int
  var cause: Cause
}

extension Policy {
  /// A push that waited longer than this came while the person was away, in seconds.
  static let absence: Int64 = 600
  /// Alerts of one app that a person who was away is shown, where they chose no budget: the rest is a digest.
  static let returnBudget = 10

  /// What bounds the alerts of an app, where anything does.
  ///
  /// Without that a decision does not depend on what was shown before, and the alert is not counted.
  ///
  /// - Parameter isQuestion: whether it is one that somebody waits for (`pushcli ask`).
  static func alertAllowance(
    of app: AppPreferences?, for push: PushNotification, isQuestion: Bool = false, received: Int64, at now: Int64,
    isCatchingUp: Bool
  ) -> AlertQuota? {
    switch app?.alertBudget ?? .standard {
    case .alerts(let count): return AlertQuota(count: count, cause: .chosen)
    case .unlimited: return nil
    case .standard:
      if isQuestion { return nil }
      if isCatchingUp, now - received > absence { return AlertQuota(count: returnBudget, cause: .absence) }
      if push.claimedLevel >= .timeSensitive { return nil }
      return AlertQuota(count: AlertBudget.standardCount, cause: .standard)
    }
  }
}
