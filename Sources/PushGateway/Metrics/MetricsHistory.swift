import GatewayProtocol
import PushCore
import PushStorage
import Synchronization

/// The figures of the console's charts in the last hour, a reading for each minute. They end with the gateway.
final class MetricsHistory: Sendable {
  /// The shortest time between two readings, in milliseconds.
  private static let interval: Int64 = 60_000
  /// The time for which a reading is kept, in milliseconds.
  private static let kept: Int64 = 3_600_000

  private let readings = Mutex<[(time: Int64, reading: MetricsReading)]>([])

  /// The readings, the oldest first.
  var all: [MetricsReading] { readings.withLock { $0.map { $0.reading } } }

  /// Adds the present figures, unless the last reading is younger than a minute.
  func note(_ meters: Meters) {
    let now = meters.clock.milliseconds()
    let last = readings.withLock { $0.last?.time }
    if let last, last <= now, now - last < MetricsHistory.interval { return }
    add(meters.reading(at: now), at: now)
  }

  /// Adds a reading, and removes readings that are older than an hour, and later ones of a clock that was set back.
  ///
  /// - Parameter time: in milliseconds since 1970.
  func add(_ reading: MetricsReading, at time: Int64) {
    readings.withLock { readings in
      readings.removeAll { $0.time > time || time - $0.time > MetricsHistory.kept }
      readings.append((time, reading))
    }
  }
}

extension Meters {
  /// Returns the present figures of the console's charts.
  ///
  /// - Parameter time: in milliseconds since 1970.
  func reading(at time: Int64) -> MetricsReading {
    let latency = MetricHistogram.Snapshot.sum(
      gateway.loops.map { $0.stages[keyPath: \.transmit].snapshot })
    return MetricsReading(
      at: Timestamp.text(time), accepted: total("pushgateway_requests_accepted"),
      delivered: total("pushgateway_delivery_events", label: DeliveryEvent.acknowledged.rawValue),
      refused: total("pushgateway_policy_refused"), pending: total("pushgateway_mailbox_pushes"),
      connections: total("pushgateway_connections"), bounds: latency.bounds, counts: latency.counts)
  }

  /// Returns the sum of the numbers of a metric, of one label value or of all.
  private func total(_ name: String, label: String? = nil) -> UInt64 {
    let samples = Metric.all.first { $0.name == name }?.read(self) ?? []
    return samples.reduce(0) { sum, sample in
      guard label == nil || sample.label == label, case .number(let number) = sample.value else { return sum }
      return sum &+ number
    }
  }
}
