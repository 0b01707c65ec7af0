/// A metric of a gateway: a row of the list, with its description and the function that reads it.
struct Metric: Sendable {
  enum Kind: String, Sendable { case counter, gauge, histogram, info }

  /// The name, without the suffix of counters in the text formats.
  let name: String
  let kind: Kind
  /// The unit, which is then the end of the name; empty for a number.
  let unit: String
  /// The label of the samples and all its values: never a topic, a user, a device or another value that grows with
  /// use. Nil for a single sample; nil `values` for the numbers of loops.
  let label: (name: String, values: [String]?)?
  /// A description in one sentence.
  let help: String
  let read: @Sendable (Meters) -> [MetricSample]

  init(
    _ name: String, _ kind: Kind, unit: String = "", by label: (name: String, values: [String]?)? = nil, _ help: String,
    read: @escaping @Sendable (Meters) -> [MetricSample]
  ) {
    (self.name, self.kind, self.unit, self.label, self.help) = (name, kind, unit, label, help)
    self.read = read
  }

  /// Creates a row with numeric samples, one for each value of its label, in order; a nil sample is omitted.
  init(
    _ name: String, _ kind: Kind, unit: String = "", by label: String, _ values: [String], _ help: String,
    totals: @escaping @Sendable (Meters) -> [UInt64?]
  ) {
    self.init(name, kind, unit: unit, by: (label, values), help) { meters in
      zip(values, totals(meters)).compactMap { label, number in
        number.map { MetricSample(label: label, value: .number($0)) }
      }
    }
  }

  /// Creates a row with one number; omitted if it is nil.
  init(
    _ name: String, _ kind: Kind, unit: String = "", _ help: String,
    total: @escaping @Sendable (Meters) -> UInt64?
  ) {
    self.init(name, kind, unit: unit, help) { meters in
      total(meters).map { [MetricSample(label: nil, value: .number($0))] } ?? []
    }
  }

  /// Creates a row with one real number; omitted if it is nil.
  init(
    _ name: String, _ kind: Kind, unit: String, _ help: String,
    real: @escaping @Sendable (Meters) -> Double?
  ) {
    self.init(name, kind, unit: unit, help) { meters in
      real(meters).map { [MetricSample(label: nil, value: .real($0))] } ?? []
    }
  }

  /// The name of its samples, except for a histogram, which has several.
  var sampleName: String {
    switch kind {
    case .counter: name + "_total"
    case .info: name + "_info"
    case .gauge, .histogram: name
    }
  }
}
