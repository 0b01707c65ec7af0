/// What one loop of a load test has counted.
package struct LoadTally: Sendable {
  package var sent = 0
  package var accepted = 0
  /// Refusals by status and reason, such as `429 TooManyRequests`.
  package var refusals: [String: Int] = [:]
  /// Requests whose connection was lost before the answer, and that were not sent again.
  package var unanswered = 0
  package var retried = 0
  /// Each push once.
  package var delivered = 0
  /// Of these, to devices that read slowly; their latency is not measured.
  package var deliveredSlowly = 0
  /// Accepted pushes that should arrive at a device.
  package var expected = 0
  package var duplicated = 0
  package var reordered = 0
  package var misdelivered = 0
  /// Lines with a number that the device had, which devices drop.
  package var redelivered = 0
  /// Pushes that a `gap` said were driven out, by device.
  package var dropped: [Int: Int] = [:]
  /// Marks of another test.
  package var foreign = 0
  /// TLS connections whose handshake was resumed.
  package var resumed = 0
  package var connections = 0
  package var connectionsLost = 0
  /// Why the latest connection was lost.
  package var lastLoss: String?
  package var acceptLatencies = Latencies()
  package var deliveryLatencies = Latencies()
  /// By second after the start.
  package var seconds: [LoadSecond] = []
  /// When the latest delivery and the latest answer came, in nanoseconds after the start.
  package var lastDelivery: UInt64 = 0
  package var lastAnswer: UInt64 = 0
  /// Answers with 200 and deliveries while what is measured was measured.
  package var acceptedMeasured = 0
  package var deliveredMeasured = 0

  package mutating func second(_ elapsed: UInt64, _ change: (inout LoadSecond) -> Void) {
    let second = Int(elapsed / 1_000_000_000)
    guard second < LoadTally.maximumSeconds else { return }
    while seconds.count <= second { seconds.append(LoadSecond(second: seconds.count)) }
    change(&seconds[second])
  }

  /// A day; a longer test keeps no rates after it.
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

/// What happened in one second of a test.
package struct LoadSecond: Sendable, Codable, Equatable {
  /// Counted from the test's start, the warm-up included.
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
