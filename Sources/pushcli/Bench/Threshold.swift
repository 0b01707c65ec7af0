import ArgumentParser
import LoadTest

/// A condition under which a test counts as failed, such as `p99>25ms` or `rate<30000`.
struct Threshold: Equatable {
  enum Comparison: String {
    case above = ">"
    case atLeast = ">="
    case below = "<"
    case atMost = "<="
  }

  var metric: Metric
  var comparison: Comparison
  /// The limit in the unit of the metric.
  var limit: Double
  /// The condition as the user wrote it.
  var text: String

  /// Parses a condition.
  ///
  /// - Throws: `ValidationError` with the error and the valid names.
  init(_ text: String) throws(ValidationError) {
    self.text = text
    let compact = text.filter { $0 != " " }
    guard let place = compact.firstIndex(where: { "<>".contains($0) }) else {
      throw ValidationError("\"\(text)\" is not a condition: expected NAME>NUMBER or NAME<NUMBER, as p99>25ms")
    }
    let name = String(compact[..<place])
    guard let metric = Metric(rawValue: name) else {
      throw ValidationError(
        "there is no figure \"\(name)\": \(Metric.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    var rest = compact[place...]
    let sign = rest.hasPrefix(">=") || rest.hasPrefix("<=") ? rest.prefix(2) : rest.prefix(1)
    rest = rest.dropFirst(sign.count)
    let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = rest.dropFirst(digits.count)
    guard let comparison = Comparison(rawValue: String(sign)), let number = Double(digits),
      let factor = metric.unit.factor(String(unit))
    else {
      throw ValidationError(
        "\"\(text)\": expected a number after \(sign), with \(metric.unit.names) behind it or nothing")
    }
    self.metric = metric
    self.comparison = comparison
    limit = number * factor
  }

  /// Returns true if a value meets the condition, so that the test has failed. A value that was not measured also
  /// counts as a failure.
  func isMet(by value: Double?) -> Bool {
    guard let value else { return true }
    switch comparison {
    case .above: return value > limit
    case .atLeast: return value >= limit
    case .below: return value < limit
    case .atMost: return value <= limit
    }
  }
}

/// A figure of a test that a threshold can name.
enum Metric: String, CaseIterable {
  case p50, p90, p99, p999, max
  case acceptP50 = "accept_p50"
  case acceptP99 = "accept_p99"
  case acceptP999 = "accept_p999"
  case acceptMax = "accept_max"
  case rate
  case acceptedRate = "accepted_rate"
  case lost, duplicated, reordered, refused, unanswered, unsent, dropped
  case cpu, memory, resident, storm
  case catchUp = "catch_up"
  case connect

  enum Unit {
    /// The unit of latencies: milliseconds.
    case latency
    case seconds
    case bytes
    case number

    var names: String {
      switch self {
      case .latency: "us, ms or s"
      case .seconds: "ms or s"
      case .bytes: "KiB or MiB"
      case .number: "k"
      }
    }

    /// Returns the factor for a number with the given unit name; nil if the unit does not fit.
    func factor(_ name: String) -> Double? {
      switch (self, name) {
      case (_, ""): 1
      case (.latency, "us"): 0.001
      case (.latency, "ms"): 1
      case (.latency, "s"): 1000
      case (.seconds, "ms"): 0.001
      case (.seconds, "s"): 1
      case (.bytes, "KiB"): 1024
      case (.bytes, "MiB"): 1_048_576
      case (.number, "k"): 1000
      default: nil
      }
    }
  }

  var unit: Unit {
    switch self {
    case .p50, .p90, .p99, .p999, .max, .acceptP50, .acceptP99, .acceptP999, .acceptMax: .latency
    case .cpu, .storm, .connect: .seconds
    case .memory, .resident: .bytes
    case .rate, .acceptedRate, .lost, .duplicated, .reordered, .refused, .unanswered, .unsent, .dropped, .catchUp:
      .number
    }
  }

  /// Returns the figure; nil if this test did not measure it.
  func value(in result: LoadResult) -> Double? {
    // With deliveries, the latency to the device, else the latency to the answer.
    let latency = result.deliveryLatency ?? result.acceptLatency
    let hasDeliveries = result.deliveryLatency != nil
    return switch self {
    case .p50: latency?.p50
    case .p90: latency?.p90
    case .p99: latency?.p99
    case .p999: latency?.p999
    case .max: latency?.max
    case .acceptP50: result.acceptLatency?.p50
    case .acceptP99: result.acceptLatency?.p99
    case .acceptP999: result.acceptLatency?.p999
    case .acceptMax: result.acceptLatency?.max
    case .rate: hasDeliveries ? result.deliveredPerSecond : result.acceptedPerSecond
    case .acceptedRate: result.acceptedPerSecond
    case .lost: Double(result.pushes.lost)
    case .duplicated: Double(result.pushes.duplicated)
    case .reordered: Double(result.pushes.reordered)
    case .refused: Double(result.pushes.refused)
    case .unanswered: Double(result.pushes.unanswered)
    case .unsent: Double(result.pushes.unsent)
    case .dropped: Double(result.pushes.dropped)
    case .cpu: result.gatewayProcess?.cpuSecondsPer100000
    case .memory: result.gatewayProcess?.residentBytesPerIdleStream.map(Double.init)
    case .resident: (result.gatewayProcess?.residentBytesAtEnd).map(Double.init)
    case .storm: result.storm?.caughtUpSeconds
    case .catchUp: result.catchUp?.pushesPerSecond
    case .connect: result.connectSeconds
    }
  }
}
