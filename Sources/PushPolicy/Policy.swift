/// Decides which parts of a push are presented to a user. This is a pure function of the push, the user's
/// preferences, the state of the device, the time, and the app's recent alerts.
package enum Policy {
  /// The state of the device at the time of delivery.
  package struct DeviceState: Sendable, Equatable {
    /// True if the ring/silent switch is on silent (S4).
    package var isSilent = false
    package var focus: String?

    package init() {}
  }

  /// Returns the parts of `notification` that are presented, and for each other part the first rule that removed it.
  ///
  /// The rules are checked in the order N4, N5 and N6, A9, N9, then the conditions in the order of
  /// ``SuppressionCondition``. A preference for a category takes precedence over the preference for that part of the
  /// app. The app's `notifications` and the preferences for all apps take precedence over both. An alert that may not
  /// interrupt goes to the notification center.
  ///
  /// - Parameters:
  ///   - moment: the current time.
  ///   - received: the time when the push was accepted, in seconds since 1970, which determines its summary; `nil`
  ///     for now.
  ///   - recentAlerts: the number of alerts that the app has shown within the last hour (A8); evaluated only if
  ///     needed.
  ///   - isCatchingUp: true if the device was away and receives pending pushes.
  ///   - isAdvertisement: true if the texts are advertising (``AdDetector``).
  ///   - isNewCategory: true if new categories of the app start quiet, and this one is new.
  ///   - isReported: true if recipients reported the app's alerts as advertising (N11).
  ///   - isMarketing: true if the sender declares the push as marketing.
  ///   - isQuestion: true for a question whose sender waits for the answer (`pushcli ask`).
  package static func decide(
    _ notification: PushNotification,
    topic: String,
    preferences: Preferences,
    device: DeviceState,
    at moment: ZonedTime,
    received: Int64? = nil,
    recentAlerts: @autoclosure () -> Int = 0,
    isCatchingUp: Bool = false,
    isAdvertisement: Bool = false,
    isMarketing: Bool = false,
    isNewCategory: Bool = false,
    isReported: Bool = false,
    isQuestion: Bool = false
  ) -> Decision {
    let app = preferences.apps[topic]
    let category = notification.category.flatMap { app?.categories[$0] }
    let level = notification.level(for: app)
    let received = received ?? moment.seconds
    var quota: AlertQuota?
    // A pattern, because `==` would copy the alert for each push.
    if case .some = notification.alert {
      quota = alertQuota(
        of: app, for: notification, isQuestion: isQuestion, received: received, at: moment.seconds,
        isCatchingUp: isCatchingUp)
    }
    let isUndecided = isNewCategory && !isQuestion && category?.isNew != false
    let isQuietCategory = isUndecided || category?.permission == .quiet
    let isReported = isReported && app?.advertising != true
    let isOverBudget = quota.map { recentAlerts() >= $0.count } ?? false
    // Usually no condition can apply, and none has to be checked.
    let mayHoldBack =
      isOverBudget || isQuietCategory || isReported || level == .passive || device.isSilent || device.focus != nil
      || !preferences.quietHours.isEmpty || app?.delivery == .summary || app?.provisional == true
    let suppression =
      mayHoldBack
      ? Suppression(
        level: level, topic: topic, app: app, isReported: isReported,
        quietCategory: isQuietCategory ? notification.category : nil,
        preferences: preferences, device: device, moment: moment,
        exhausted: isOverBudget ? quota : nil, isCatchingUp: isCatchingUp) : nil
    /// Returns the removal of this part by a preference, as advertising or as marketing, independent of the conditions.
    func prohibition(of part: Part) -> Decision.Removal? {
      if let choice = choice(against: part, topic, app, notification.category, category, preferences) {
        return Decision.Removal(part: part, rule: choice.rule, setting: choice.setting)
      }
      if part == .badge { return nil }
      if isAdvertisement, app?.advertising != true {
        return Decision.Removal(part: part, rule: .a9, setting: "apps/\(topic)/advertising")
      }
      guard isMarketing, !preferences.allowsMarketing(of: topic) else { return nil }
      return Decision.Removal(part: part, rule: .n9, setting: "apps/\(topic)/marketing")
    }

    var decision = Decision()
    // The badge is the least intrusive of the three parts (B): no condition removes it.
    if let badge = notification.badge {
      if let removal = prohibition(of: .badge) {
        decision.removed.append(removal)
      } else {
        decision.presentation.badge = badge
      }
    }
    if let sound = notification.askedSound(at: level) {
      if let removal = prohibition(of: .sound) ?? suppression?.removal(of: .sound) {
        decision.removed.append(removal)
      } else {
        decision.presentation.sound = sound
      }
    }
    if let alert = notification.alert {
      let presentation = AlertPresentation(
        title: alert.title, subtitle: alert.subtitle, body: alert.body, buttons: alert.action.buttons)
      if let removal = prohibition(of: .alert) {
        decision.removed.append(removal)
      } else if let suppression, let removal = suppression.removal(of: .alert) {
        decision.removed.append(removal)
        decision.presentation.center = presentation
        if isUndecided, removal.rule == .n10 { decision.presentation.newCategory = notification.category }
        decision.presentation.budget = suppression.budget(behind: removal)
        decision.presentation.held = suppression.deferral(received: received, relevance: notification.relevanceScore)
      } else {
        decision.presentation.alert = presentation
        decision.isAlertCounted = quota != nil
      }
    }
    return decision
  }

  /// Returns true if the user allows the app this part, independent of the conditions (N4, N5, N6).
  package static func allows(_ part: Part, topic: String, category: String?, preferences: Preferences) -> Bool {
    refusal(of: part, topic: topic, category: category, preferences: preferences) == nil
  }

  /// Returns the preference with which the user refuses the app this part, independent of the conditions (N4, N5,
  /// N6); `nil` if the user allows it.
  package static func refusal(
    of part: Part, topic: String, category: String?, preferences: Preferences
  ) -> Decision.Removal? {
    let app = preferences.apps[topic]
    return choice(against: part, topic, app, category, category.flatMap { app?.categories[$0] }, preferences).map {
      Decision.Removal(part: part, rule: $0.rule, setting: $0.setting)
    }
  }

  /// Returns the preference that refuses this part.
  private static func choice(
    against part: Part, _ topic: String, _ app: AppPreferences?, _ category: String?, _ choices: CategoryPreferences?,
    _ preferences: Preferences
  ) -> (rule: Rule, setting: String)? {
    if !preferences.notifications { return (.n4, "notifications") }
    if !preferences.parts[part] { return (.n4, part.rawValue) }
    guard let app else { return nil }
    if !app.notifications { return (.n5, "apps/\(topic)/notifications") }
    if choices?.permission == .off { return (.n6, "apps/\(topic)/categories/\(category ?? "")/permission") }
    switch choices?[part] {
    case true?: return nil
    case false?: return (.n6, "apps/\(topic)/categories/\(category ?? "")/\(part.rawValue)")
    case nil: return app.parts[part] ? nil : (.n5, "apps/\(topic)/\(part.rawValue)")
    }
  }

  /// The conditions of one push.
  private struct Suppression {
    let level: InterruptionLevel
    let topic: String
    let app: AppPreferences?
    /// True if the app's alerts go to the summary because recipients reported them (N11).
    let isReported: Bool
    /// The category of the push if it is quiet; else nil.
    let quietCategory: String?
    let preferences: Preferences
    let device: DeviceState
    let moment: ZonedTime
    /// The alert limit of the app if it is used up; nil if further alerts are permitted.
    let exhausted: AlertQuota?
    let isCatchingUp: Bool

    /// Returns the removal of a part by the first condition that applies.
    func removal(of part: Part) -> Decision.Removal? {
      for condition in SuppressionCondition.inOrder where !condition.lets(part, of: level) {
        guard let reason = reason(condition) else { continue }
        return Decision.Removal(part: part, rule: reason.rule, setting: reason.setting)
      }
      return nil
    }

    /// Returns the rule and the setting of a condition that applies; nil for any other.
    private func reason(_ condition: SuppressionCondition) -> (rule: Rule, setting: String)? {
      switch condition {
      case .always: return (.a8, "interruption-level")
      case .provisional: return app?.provisional == true ? (.n7, "apps/\(topic)/provisional") : nil
      case .category: return quietCategory.map { (.n10, "apps/\(topic)/categories/\($0)/permission") }
      case .summary:
        if app?.delivery == .summary { return (.n7, "apps/\(topic)/delivery") }
        return isReported ? (.n11, "apps/\(topic)/standing") : nil
      case .quietHours:
        guard let index = preferences.quietHours.firstIndex(where: { $0.contains(moment) }) else { return nil }
        return (.n7, "quiet/\(index)")
      case .focus:
        guard let focus = device.focus, preferences.focuses[focus]?.contains(topic) != true else { return nil }
        return (.n7, "focus/\(focus)")
      case .budget:
        return exhausted.map { (.a8, setting(of: $0)) }
      case .silent: return device.isSilent ? (.s4, "silent") : nil
      }
    }

    private var isSummarized: Bool { isReported || app?.delivery == .summary }

    private func setting(of quota: AlertQuota) -> String {
      switch quota {
      case .chosen: "apps/\(topic)/alert_budget"
      case .absence: "absence"
      case .standard: "budget"
      }
    }

    /// Returns the alert limit because of which the part was removed; nil if it was removed for another reason.
    func budget(behind removal: Decision.Removal) -> Int? {
      guard let exhausted, exhausted != .absence, removal.setting == setting(of: exhausted) else { return nil }
      return exhausted.count
    }

    /// Returns the summary to which a suppressed alert is deferred; nil if it is not deferred.
    func deferral(received: Int64, relevance: Double) -> Deferral? {
      let relevance = relevance.isFinite ? relevance : 0
      if isSummarized, !SuppressionCondition.summary.lets(.alert, of: level) {
        var arrival = moment
        arrival.seconds = received
        return Deferral(by: .summary, until: preferences.summary.due(after: arrival), relevance: relevance)
      }
      // While the user is present, alerts beyond the budget go to the notification center and to no summary.
      guard isCatchingUp, let exhausted, exhausted != .standard,
        !SuppressionCondition.budget.lets(.alert, of: level)
      else { return nil }
      return Deferral(by: .budget, relevance: relevance)
    }
  }
}

extension PushNotification {
  /// Returns the effective interruption level: a level that the user has not allowed the app counts as `active`.
  fileprivate func level(for app: AppPreferences?) -> InterruptionLevel {
    let claimed = claimedLevel
    switch claimed {
    case .passive, .active: return claimed
    case .timeSensitive: return app?.timeSensitive == true ? .timeSensitive : .active
    case .critical: return app?.critical == true ? .critical : .active
    }
  }

  /// The level that the sender requests; a critical sound makes a push critical.
  var claimedLevel: InterruptionLevel { sound?.isCritical == true ? .critical : level }

  /// Returns the name of the requested sound; a critical push without a sound requests the default (reference §7.4).
  fileprivate func askedSound(at level: InterruptionLevel) -> String? {
    sound?.name ?? (level == .critical ? "default" : nil)
  }
}

extension PushNotification.ActionKey {
  private static let closeAndView = ["Close", "View"]
  private static let ok = ["OK"]

  /// The titles of the alert's buttons, the one that only dismisses first (A3, A4, A5).
  fileprivate var buttons: [String] {
    switch self {
    case .absent: Self.closeAndView
    case .title(let title): ["Close", title]
    case .null: Self.ok
    }
  }
}
