/// The counts of one loop of a load test.
package struct LoadTally: Sendable {
  /// The counts by outcome; counts that the end of the test determines stay 0.
  package var pushes = LoadResult.Pushes()
  /// The part of the delivered pushes that went to devices that read slowly; its latency is not measured.
  package var deliveredSlowly = 0
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

  /// Counts an accepted push; all times are in nanoseconds after the start.
  mutating func accept(at now: UInt64, intended: UInt64, _ plan: LoadPlan) {
    pushes.accepted += 1
    lastAnswer = now
    second(now) { $0.accepted += 1 }
    if plan.isMeasured(now) { acceptedMeasured += 1 }
    if plan.isMeasured(intended) { acceptLatencies.record(nanoseconds: now &- min(now, intended)) }
  }

  /// Counts a delivered push.
  ///
  /// - Parameter hasLatency: true if the time since `intended` counts as the latency of a device that reads at once.
  mutating func deliver(at now: UInt64, intended: UInt64, isSlow: Bool, hasLatency: Bool, _ plan: LoadPlan) {
    pushes.delivered += 1
    lastDelivery = now
    second(now) { $0.delivered += 1 }
    if plan.isMeasured(now) { deliveredMeasured += 1 }
    if isSlow {
      deliveredSlowly += 1
    } else if plan.isMeasured(intended), hasLatency {
      deliveryLatencies.record(nanoseconds: now &- min(now, intended))
    }
  }

  package mutating func add(_ other: LoadTally) {
    pushes.add(other.pushes)
    deliveredSlowly += other.deliveredSlowly
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
}
