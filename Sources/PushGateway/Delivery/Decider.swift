import PushPolicy
import PushStorage

/// Decides what one device is sent of a push now: a value, without a stream, a store or a clock.
///
/// The person's choices hold at delivery, as they are then. Whoever delivers carries out what ``DeliveryDecision`` says.
struct Decider {
  /// The choices of the device's owner.
  let preferences: Preferences
  /// What the device last reported.
  let device: Policy.DeviceState
  /// Whether the device has been away and is being sent what waited.
  let isCatchingUp: Bool
  /// Milliseconds since 1970.
  let now: Int64

  /// - Parameters:
  ///   - content: what the payload of `push` says.
  ///   - ads: asked where the app's mode has its alerts looked at.
  ///   - recentAlerts: the app's alerts within the last hour before this push; asked only where a budget counts them.
  ///   - actions: what the alerts of a category offer; asked only for a push that has one.
  ///   - isQuestion: whether a category is a question's; likewise.
  func decide(
    _ push: StoredPush, _ content: PushContent, of app: App, ads: AdFilter, recentAlerts: () -> Int,
    actions: (_ category: String) -> [AlertAction], isQuestion: (_ category: String) -> Bool
  ) -> DeliveryDecision {
    let notification = content.notification
    let received = push.received / 1000
    // Nor does a digest count: it is told when the person said, or once.
    let isQuestion = app.id == App.summary.id || notification.category.map(isQuestion) ?? false
    var decision = Policy.decide(
      notification, topic: app.topic, preferences: preferences, device: device, at: .gateway(now / 1000),
      received: received, recentAlerts: recentAlerts(), isCatchingUp: isCatchingUp,
      isAdvertisement: ads.holds(content, of: app, for: preferences),
      isQuestion: isQuestion)
    // A digest is not held for a digest.
    if app.id == App.summary.id { decision.presentation.held = nil }
    if let category = notification.category {
      let actions = actions(category)
      decision.presentation.alert?.offer(actions)
      decision.presentation.center?.offer(actions)
    }
    let made = DeliveryDecision(
      push: push, at: now, asked: RequestedPresentation(notification, on: device), presentation: decision.presentation,
      removed: decision.removed, isAlertCounted: decision.isAlertCounted,
      textReaders: preferences.logText)
    made.checkInvariants()
    return made
  }
}

/// What is decided of one push for one device, and what follows from it.
struct DeliveryDecision {
  let push: StoredPush
  /// When it was decided, in milliseconds since 1970.
  let at: Int64
  /// What the sender asked for, and the state in which the device was.
  let asked: RequestedPresentation
  /// What the device shows, plays and counts.
  let presentation: Presentation
  /// What was asked for and is not presented.
  let removed: [Decision.Removal]
  /// Whether an alert is shown that counts against a budget.
  let isAlertCounted: Bool
  /// Who may find the text in the delivery log.
  let textReaders: LogText

  /// What the push waits for besides; nil when it is in no digest.
  var hold: Deferral? { presentation.held }

  /// The log's row that the push goes out.
  var transmitted: DeliveryLog.Row { push.event(.transmitted, at: at, detail: .asked(asked)) }

  /// The text that the log keeps with ``transmitted``: what the person sees; nil for none.
  var keptText: AlertPresentation? { textReaders == .off ? nil : presentation.alert ?? presentation.center }

  /// The log's row of what does not go out; nil when all of it does.
  var suppressed: DeliveryLog.Row? {
    removed.isEmpty ? nil : push.event(.suppressed, at: at, detail: .removed(removed))
  }
}

extension DeliveryDecision {
  /// What does not fit; nil when all does.
  func brokenInvariant() -> String? {
    var decision = Decision()
    (decision.presentation, decision.removed) = (presentation, removed)
    if let broken = decision.brokenInvariant(asked: asked.parts) { return broken }
    return isAlertCounted && presentation.alert == nil ? "an alert counts that is not shown" : nil
  }

  /// Ends a debug build in which something does not fit; a release build has no trace of this.
  func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
}

extension MailboxEntry {
  /// Whether its time is over, in milliseconds since 1970; one that is never stored is sent now or never.
  func isExpired(at now: Int64) -> Bool { seq > 0 && push.expires <= now / 1000 }
}
