import PushCore

/// The text by which monitors read metrics: OpenMetrics 1.0.
enum OpenMetrics {
  static let contentType: StaticString = "application/openmetrics-text; version=1.0.0; charset=utf-8"

  /// Every metric with its samples; a metric without any is left out.
  static func text(of metrics: [(metric: Metric, samples: [MetricSample])]) -> String {
    var text = ""
    for (metric, samples) in metrics where !samples.isEmpty {
      text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
      if !metric.unit.isEmpty { text += "# UNIT \(metric.name) \(metric.unit)\n" }
      text += "# HELP \(metric.name) \(escaped(metric.help))\n"
      for sample in samples { append(sample, of: metric, to: &text) }
    }
    return text + "# EOF\n"
  }

  private static func append(_ sample: MetricSample, of metric: Metric, to text: inout String) {
    var labels: [(name: String, value: String)] = []
    if let label = metric.label, let value = sample.label { labels = [(label.name, value)] }
    switch sample.value {
    case .number(let number):
      text += "\(metric.name)\(metric.kind == .counter ? "_total" : "")\(list(labels)) \(number)\n"
    case .histogram(let histogram):
      var count: UInt64 = 0
      for (index, number) in histogram.counts.enumerated() {
        count += number
        let bound = index < histogram.bounds.count ? "\(histogram.bounds[index])" : "+Inf"
        text += "\(metric.name)_bucket\(list(labels + [("le", bound)])) \(count)\n"
      }
      text += "\(metric.name)_count\(list(labels)) \(count)\n"
      text += "\(metric.name)_sum\(list(labels)) \(histogram.sum)\n"
    }
  }

  private static func list(_ labels: [(name: String, value: String)]) -> String {
    if labels.isEmpty { return "" }
    return "{" + labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",") + "}"
  }

  /// A text within a line, and within quotation marks.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"": escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

extension Meters {
  /// What is counted now, for a monitor.
  var text: String { OpenMetrics.text(of: Metric.all.map { ($0, $0.read(self)) }) }
}
