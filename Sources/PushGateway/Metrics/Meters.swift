import HTTP2Transport
import PushCore
import PushStorage

/// The sources of all metrics; reading them blocks no other thread.
struct Meters: Sendable {
  let backend: GatewayBackend
  let log: DeliveryLog
  let held: DeferredPushes
  let schedule: Schedule
  let events: EventSenders
  let pages: ClosedPages
  let budgets: DeviceRateLimiter
  let healthCheck: HealthCheck
  /// The counters of the gateway, and of its event loops.
  let gateway: GatewayMeter
  let clock: WallClock
  let faults: FaultTable
  let transportLimits: LimitLog
  let folder: StateFolder
  /// Returns the path of the server's certificate; nil for the one in the state folder.
  var certificatePath: (@Sendable () -> String)?

  var loops: [LoopMeter] { gateway.loops.map(\.loop) }

  /// The commit metrics of the storage backend; nil if it reports none.
  var mailbox: MailboxMeter? { backend.mailboxMeter }

  /// Returns the sum of a counter over all loops.
  func sum(_ counter: (LoopMeter) -> UInt64) -> UInt64 { loops.reduce(0) { $0 &+ counter($1) } }

  /// Returns a number of TLS handshakes: of all loops, and over HTTP/1.1.
  func handshakes(_ number: (HandshakeMeter) -> UInt64) -> UInt64 {
    sum { number($0.handshakes) } &+ number(gateway.handshakes)
  }

  /// Returns the element-wise sums of several arrays of counters.
  static func sum(_ parts: [[UInt64]]) -> [UInt64] {
    guard var sums = parts.first else { return [] }
    for part in parts.dropFirst() { for index in sums.indices { sums[index] &+= part[index] } }
    return sums
  }

  /// Returns the histogram of each loop, labeled with its number.
  func histograms(of loops: KeyPath<LoopMeter, MetricHistogram>) -> [MetricSample] {
    self.loops.enumerated().map { number, loop in
      MetricSample(label: String(number), value: .histogram(loop[keyPath: loops].snapshot))
    }
  }

  /// Returns the combined histogram of all loops for a stage.
  func stage(_ stage: KeyPath<LatencyHistograms, MetricHistogram>) -> MetricSample.Value {
    .histogram(.sum(gateway.loops.map { $0.stages[keyPath: stage].snapshot }))
  }
}
