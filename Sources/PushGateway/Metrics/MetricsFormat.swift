import PushCore

enum MetricsFormat: Sendable {
  /// OpenMetrics 1.0.
  case openMetrics
  /// The text format 0.0.4 of Prometheus, which all monitors support.
  case prometheus

  /// - Parameter accept: the media types that a monitor accepts (RFC 9110 §12.5.1): OpenMetrics is used if named.
  init(accept: String) {
    self = accept.lowercased().contains("application/openmetrics-text") ? .openMetrics : .prometheus
  }

  var contentType: StaticString {
    switch self {
    case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
    case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
    }
  }

  /// Returns every metric with its samples; a metric without samples is omitted.
  func text(of metrics: [(metric: Metric, samples: [MetricSample])]) -> String {
    var text = ""
    for (metric, samples) in metrics where !samples.isEmpty {
      let name = familyName(of: metric)
      text += "# TYPE \(name) \(kindName(of: metric))\n"
      if self == .openMetrics, !metric.unit.isEmpty { text += "# UNIT \(name) \(metric.unit)\n" }
      text += "# HELP \(name) \(MetricsFormat.escaped(metric.help))\n"
      for sample in samples { MetricsFormat.append(sample, of: metric, to: &text) }
    }
    return self == .openMetrics ? text + "# EOF\n" : text
  }

  /// Returns the name of a metric's family. OpenMetrics uses the common part of the sample names, Prometheus the name
  /// of the samples.
  private func familyName(of metric: Metric) -> String {
    self == .prometheus && metric.kind != .histogram ? metric.sampleName : metric.name
  }

  private func kindName(of metric: Metric) -> String {
    self == .prometheus && metric.kind == .info ? Metric.Kind.gauge.rawValue : metric.kind.rawValue
  }

  private static func append(_ sample: MetricSample, of metric: Metric, to text: inout String) {
    var labels: [(name: String, value: String)] = []
    if let label = metric.label, let value = sample.label { labels = [(label.name, value)] }
    switch sample.value {
    case .number(let number): text += "\(metric.sampleName)\(list(labels)) \(number)\n"
    case .real(let number): text += "\(metric.sampleName)\(list(labels)) \(number)\n"
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

  /// Escapes a text for use within a line, and within quotation marks.
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
  func text(as format: MetricsFormat) -> String { format.text(of: Metric.all.map { ($0, $0.read(self)) }) }
}
