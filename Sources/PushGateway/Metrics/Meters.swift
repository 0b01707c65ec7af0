import HTTP2Transport
import PushCore
import PushStorage

/// Where everything is counted; reading it stops nobody.
struct Meters: Sendable {
  let services: Services
  let faults: FaultTable
  let transportLimits: LimitLog
  let folder: StateFolder
  /// Where the certificate lies that the server shows; nil: in the state folder.
  var certificatePath: (@Sendable () -> String)?

  var loops: [LoopMeter] { services.meter.loops.map(\.loop) }

  /// Nil when the backend says nothing of its commits.
  var mailbox: MailboxMeter? { services.backend.mailboxMeter }

  /// The sum of what all loops count.
  func sum(_ counter: (LoopMeter) -> UInt64) -> UInt64 { loops.reduce(0) { $0 &+ counter($1) } }

  /// The sums of several parts' counters, place by place.
  static func sum(_ parts: [[UInt64]]) -> [UInt64] {
    guard var sums = parts.first else { return [] }
    for part in parts.dropFirst() { for index in sums.indices { sums[index] &+= part[index] } }
    return sums
  }

  /// What each loop has recorded, by its number.
  func histograms(of loops: KeyPath<LoopMeter, MetricHistogram>) -> [MetricSample] {
    self.loops.enumerated().map { number, loop in
      MetricSample(label: String(number), value: .histogram(loop[keyPath: loops].snapshot))
    }
  }

  /// What all loops have recorded of a stage, together.
  func stage(_ stage: KeyPath<LatencyHistograms, MetricHistogram>) -> MetricSample.Value {
    .histogram(.sum(services.meter.loops.map { $0.stages[keyPath: stage].snapshot }))
  }
}
