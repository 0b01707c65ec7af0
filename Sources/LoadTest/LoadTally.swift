/// What one loop of a load test has counted.
struct LoadTally: Sendable {
  var sent = 0
  var accepted = 0
  /// Refusals by status and reason, such as `429 TooManyRequests`.
  var refusals: [String: Int] = [:]
  /// Requests whose connection was lost before the answer, and that were not sent again.
  var unanswered = 0
  var retried = 0
  /// Each push once.
  var delivered = 0
  /// Of these, to devices that read slowly; their latency is not measured.
  var deliveredSlowly = 0
  /// Accepted pushes that should arrive at a device.
  var expected = 0
  var duplicated = 0
  var reordered = 0
  var misdelivered = 0
  /// Lines with a number that the device had, which devices drop.
  var redelivered = 0
  /// Pushes that a `gap` said were driven out, by device.
  var dropped: [Int: Int] = [:]
  /// Marks of another test.
  var foreign = 0
  /// TLS connections whose handshake was resumed.
  var resumed = 0
  var connections = 0
  var connectionsLost = 0
  /// Why the latest connection was lost.
  var lastLoss: String?
  var acceptLatencies = Latencies()
  var deliveryLatencies = Latencies()
  /// By second after the start.
  var seconds: [LoadSecond] = []
  /// When the latest delivery and the latest answer came, in nanoseconds after the start.
  var lastDelivery: UInt64 = 0
  var lastAnswer: UInt64 = 0
  /// Answers with 200 and deliveries while what is measured was measured.
  var acceptedMeasured = 0
  var deliveredMeasured = 0

  mutating func second(_ elapsed: UInt64, _ change: (inout LoadSecond) -> Void) {
    let second = Int(elapsed / 1_000_000_000)
    guard second < LoadTally.maximumSeconds else { return }
    while seconds.count <= second { seconds.append(LoadSecond(second: seconds.count)) }
    change(&seconds[second])
  }

  /// A day; a longer test keeps no rates after it.
  private static let maximumSeconds = 86_400

  mutating func add(_ other: LoadTally) {
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
public struct LoadSecond: Sendable, Codable, Equatable {
  /// Counted from the test's start, the warm-up included.
  public var second: Int
  public var sent = 0
  public var accepted = 0
  public var delivered = 0

  public init(second: Int, sent: Int = 0, accepted: Int = 0, delivered: Int = 0) {
    self.second = second
    self.sent = sent
    self.accepted = accepted
    self.delivered = delivered
  }
}
