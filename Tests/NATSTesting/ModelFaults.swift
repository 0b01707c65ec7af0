/// What a ``ModelEngine`` does to its clients, each with a probability for one request.
package struct ModelFaults: Sendable {
  /// It never arrives.
  package var lostRequests = 0.0
  /// It is done, and nobody is told.
  package var lostAnswers = 0.0
  /// It is done, and said to be unavailable.
  package var doubtfulRefusals = 0.0
  /// A message of a subscription comes twice.
  package var repeats = 0.0
  /// A message of a subscription is lost.
  package var losses = 0.0
  /// A replica answers that lags behind its leader.
  package var staleReads = 0.0
  /// How old is at most what it hands out.
  package var staleness = Duration.milliseconds(300)
  /// How long anything is on its way at most; of several each takes its own time.
  package var delay = Duration.zero
  /// Something is on its way for longer than anybody waits.
  package var longDelays = 0.0
  package var longDelay = Duration.seconds(4)

  // Engines that are none, for tests of tests.

  /// Knows no message by its id.
  package var forgetsIDs = false
  /// Acknowledges now and then what it has not stored.
  package var lostWrites = 0.0
  /// Says of what it deletes that it is gone, and has it.
  package var keepsDeleted = 0.0

  package static let none = ModelFaults()

  package init() {}

  /// All that a cluster does when it fails.
  package static let all = {
    var faults = ModelFaults()
    faults.lostRequests = 0.03
    faults.lostAnswers = 0.03
    faults.doubtfulRefusals = 0.02
    faults.repeats = 0.1
    faults.losses = 0.1
    faults.staleReads = 0.3
    faults.delay = .milliseconds(40)
    faults.longDelays = 0.01
    return faults
  }()
}
