/// Whether keys are for the alert in front of the person: none is that was on its way to something else when it appeared.
struct Attention: Sendable, Equatable {
  /// The first alert's.
  var ordinal: Int
  /// Tells one time that keys do not count from the next.
  var number: Int
  /// Whether it has been on screen for long enough to be seen before a key is pressed.
  var isReady = false
  /// Whether a field was being edited, which keys are for until Esc or Tab.
  var isElsewhere = false
  /// The alerts that keys are for. Others of the group have come since, and are shown.
  var settled: Set<Int> = []
  /// Those that are settled when ``number`` is told.
  var settling: Set<Int> = []

  /// Whether some are still on their way to being settled.
  var isWaiting: Bool { !settling.isEmpty }
}
