/// The counts of one loop of a load test.
package struct LoadTally: Sendable {
  package var sent = 0
  package var accepted = 0
  /// The refusals by status and reason, such as `429 TooManyRequests`.
  package var refusals: [String: Int] = [:]
  /// Requests whose connection was lost before the answer, and that were not sent again.
  package var unanswered = 0
  package var retried = 0
  /// The delivered pushes, each counted once.
  package var delivered = 0
  /// The part of ``delivered`` that went to devices that read slowly; its latency is not measured.
  package var deliveredSlowly = 0
  /// Accepted pushes that should arrive at a device.
  package var expected = 0
  package var duplicated = 0
  package var reordered = 0
  package var misdelivered = 0
  /// Lines with a sequence number that the device had already received; devices drop these.
  package var redelivered = 0
  /// The number of pushes evicted according to `gap` lines, by device.
  package var dropped: [Int: Int] = [:]
  /// Tags of another test.
  package var foreign = 0
  /// TLS connections with a resumed session.
  package var resumed = 0
  package var connections = 0
  package var connectionsLost = 0
  /// The reason for the loss of the latest connection.
  package var lastLoss: String?
  package var acceptLatencies = Latencies()
  package var deliveryLatencies = Latencies()
  /// The counts by second after the start.
  package var seconds: [LoadSecond] = []
  /// The times of the latest delivery and the latest answer, in nanoseconds after the start.
  package var lastDelivery: UInt64 = 0
  package var lastAnswer: UInt64 = 0
  /// The answers with 200 and the deliveries within the measured time.
  package var acceptedMeasured = 0
  package var deliveredMeasured = 0

  package mutating func second(_ elapsed: UInt64, _ change: (inout LoadSecond) -> Void) {
    let second = Int(elapsed / 1_000_000_000)
    guard second < LoadTally.maximumSeconds else { return }
    while seconds.count <= second { seconds.append(LoadSecond(second: seconds.count)) }
    change(&seconds[second])
  }

  /// One day; a longer test keeps no rates after it.
  private static let maximumSeconds = 86_400

  package mutating func add(_ other: LoadTally) {
    sent += other.sent
    accepted += other.accepted
    refusals.merge(other.refusals, uniquingKeysWith: +)
    unanswered += other.unanswered
    retried += other.retried
    delivered += other.delivered
    deliveredSlowly += other.deliveredSlowly
    expected += other.expected
    duplicated += other.duplicated
    reordered += other.reordered
    misdelivered += other.misdelivered
    redelivered += other.redelivered
    foreign += other.foreign
    resumed += other.resumed
    connections += other.connections
    connectionsLost += other.connectionsLost
    lastLoss = other.lastLoss ?? lastLoss
    acceptLatencies.add(other.acceptLatencies)
    deliveryLatencies.add(other.deliveryLatencies)
    for second in other.seconds {
      self.second(UInt64(second.second) * 1_000_000_000) {
        $0.sent += second.sent
        $0.accepted += second.accepted
        $0.delivered += second.delivered
      }
    }
    lastDelivery = max(lastDelivery, other.lastDelivery)
    lastAnswer = max(lastAnswer, other.lastAnswer)
    acceptedMeasured += other.acceptedMeasured
    deliveredMeasured += other.deliveredMeasured
  }
}

/// The counts of one second of a test.
package struct LoadSecond: Sendable, Codable, Equatable {
  /// The second after the start of the test, the warm-up included.
  package var second: Int
  package var sent = 0
  package var accepted = 0
  package var delivered = 0

  package init(second: Int, sent: Int = 0, accepted: Int = 0, delivered: Int = 0) {
    self.second = second
    self.sent = sent
    self.accepted = accepted
    self.delivered = delivered
  }
}
