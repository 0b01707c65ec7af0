/// The state that decides if keys apply to the alert on screen. Keys pressed just before it appeared must not answer
/// it.
struct Attention: Sendable, Equatable {
  /// The ordinal of the first alert.
  var ordinal: Int
  /// Identifies the delay before keys apply; it increases with each delay.
  var number: Int
  /// True if the alert was on screen long enough for the user to see it before pressing a key.
  var isReady = false
  /// True while keys go to the field that was being edited when the alert appeared, until Esc or Tab.
  var isElsewhere = false
  /// The ordinals of the alerts to which keys apply. Alerts that joined the group later are only shown.
  var settled: Set<Int> = []
  /// The ordinals of the alerts to which keys will apply when the delay ``number`` ends.
  var settling: Set<Int> = []

  /// True while a delay is pending.
  var isWaiting: Bool { !settling.isEmpty }
}
