/// The faults of a ``ModelEngine``. Each probability is for one request.
package struct ModelFaults: Sendable {
  /// The request never arrives.
  package var lostRequests = 0.0
  /// The request is done, and its answer is lost.
  package var lostAnswers = 0.0
  /// The request is done, and the answer reports that the service is unavailable.
  package var doubtfulRefusals = 0.0
  /// A message of a subscription arrives twice.
  package var repeats = 0.0
  /// A message of a subscription is lost.
  package var losses = 0.0
  /// A replica that lags behind its leader answers.
  package var staleReads = 0.0
  /// The maximum age of the data of a lagging replica.
  package var staleness = Duration.milliseconds(300)
  /// The maximum delay of a message. Each message has its own delay.
  package var delay = Duration.zero
  /// A message is delayed beyond every timeout.
  package var longDelays = 0.0
  package var longDelay = Duration.seconds(4)

  // Faults that no JetStream has, to test the tests.

  /// Duplicates are stored: no id is remembered.
  package var forgetsIDs = false
  /// The probability that a message is acknowledged but not stored.
  package var lostWrites = 0.0
  /// The probability that a deletion is confirmed but not done.
  package var keepsDeleted = 0.0

  package static let none = ModelFaults()

  package init() {}

  /// All faults of a real cluster.
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
