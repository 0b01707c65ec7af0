import PushPolicy
import PushStorage

/// Decides which parts of a push are sent to one device now: a value, without a stream, a store or a clock.
///
/// The recipient's preferences at the time of delivery apply. The caller carries out the ``DeliveryDecision``.
struct Decider {
  /// The preferences of the device's owner.
  let preferences: Preferences
  /// The state that the device last reported.
  let device: Policy.DeviceState
  /// True while the device, which was offline, is being sent its pending pushes.
  let isCatchingUp: Bool
  /// Milliseconds since 1970.
  let now: Int64

  /// Decides on one push for one device.
  ///
  /// - Parameters:
  ///   - content: the parsed payload of `push`.
  ///   - ads: used if the app's mode requires an assessment of its alerts.
  ///   - recentAlerts: the number of alerts of the app within the hour before this push; called only if a budget
  ///     counts them.
  ///   - actions: returns the actions that alerts of a category offer; called only for a push that has a category.
  ///   - isQuestion: returns true if a category is that of a question; called only for a push that has a category.
  func decide(
    _ push: StoredPush, _ content: PushContent, of app: App, ads: AdFilter, recentAlerts: () -> Int,
    actions: (_ category: String) -> [AlertAction], isQuestion: (_ category: String) -> Bool
  ) -> DeliveryDecision {
    let notification = content.notification
    let received = push.received / 1000
    // A summary does not count as an alert either: it comes at the times that the recipient chose, or once.
    let isQuestion = app.id == App.summary.id || notification.category.map(isQuestion) ?? false
    var decision = Policy.decide(
      notification, topic: app.topic, preferences: preferences, device: device, at: .gateway(now / 1000),
      received: received, recentAlerts: recentAlerts(), isCatchingUp: isCatchingUp,
      isAdvertisement: ads.holds(content, of: app, for: preferences), isMarketing: content.parsed.isMarketing,
      isNewCategory: notification.category.map(app.isNew) ?? false,
      isReported: app.measure?.isActive(at: now / 1000) ?? false, isQuestion: isQuestion)
    // A summary is never deferred to another summary.
    if app.id == App.summary.id { decision.presentation.held = nil }
    if let category = notification.category {
      let actions = actions(category)
      decision.presentation.alert?.offer(actions)
      decision.presentation.center?.offer(actions)
    }
    let made = DeliveryDecision(
      push: push, at: now,
      asked: RequestedPresentation(notification, on: device, isMarketing: content.parsed.isMarketing),
      presentation: decision.presentation, removed: decision.removed, isAlertCounted: decision.isAlertCounted,
      textReaders: preferences.logText)
    made.checkInvariants()
    return made
  }
}

/// The decision on one push for one device, with the log rows that result from it.
struct DeliveryDecision {
  let push: StoredPush
  /// The time of the decision, in milliseconds since 1970.
  let at: Int64
  /// The presentation that the sender requested, and the state of the device at that time.
  let asked: RequestedPresentation
  /// The presentation on the device: alert, sound, badge.
  let presentation: Presentation
  /// The requested parts that are not presented.
  let removed: [Decision.Removal]
  /// True if the push shows an alert that counts against a budget.
  let isAlertCounted: Bool
  /// The readers who may find the text in the delivery log.
  let textReaders: LogText

  /// The deferral of the push to a summary; nil if it is in no summary.
  var hold: Deferral? { presentation.held }

  var transmitted: DeliveryLog.Row { push.event(.transmitted, at: at, detail: .asked(asked)) }

  /// The text that the log keeps with ``transmitted``, as the recipient sees it; nil for none.
  var keptText: AlertPresentation? { textReaders == .off ? nil : presentation.alert ?? presentation.center }

  /// The row of the delivery log for the parts that are not sent; nil if all are sent.
  var suppressed: DeliveryLog.Row? {
    removed.isEmpty ? nil : push.event(.suppressed, at: at, detail: .removed(removed))
  }

  /// Returns a description of the violated invariant; nil if all invariants hold.
  func brokenInvariant() -> String? {
    var decision = Decision()
    (decision.presentation, decision.removed) = (presentation, removed)
    if let broken = decision.brokenInvariant(asked: asked.parts) { return broken }
    return isAlertCounted && presentation.alert == nil ? "an alert counts that is not shown" : nil
  }

  /// Ends a debug build that violates an invariant; compiled out of release builds.
  func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
}

extension MailboxEntry {
  /// Returns true if the push has expired at `now`, in milliseconds since 1970. A push that is never stored does not
  /// expire: it is sent at once or not at all.
  func isExpired(at now: Int64) -> Bool { seq > 0 && push.expires <= now / 1000 }
}
