import PushCore

struct MetricSample: Sendable, Equatable {
  enum Value: Sendable, Equatable {
    case number(UInt64)
    case real(Double)
    case histogram(MetricHistogram.Snapshot)
  }

  /// The value of the metric's label.
  var label: String?
  var value: Value
}
