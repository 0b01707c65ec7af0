/// What is measured of a gateway: a row of the list, which says what it is and where it is read.
struct Metric: Sendable {
  enum Kind: String, Sendable { case counter, gauge, histogram, info }

  /// Without the ending that text gives to a counter.
  let name: String
  let kind: Kind
  /// The unit, which then ends the name; empty for a number.
  let unit: String
  /// What tells its samples apart, and every value of that: never a topic, a person, a device or anything else that
  /// grows with use. Nil when there is one sample, or, of `values`, where they are the numbers of loops.
  let label: (name: String, values: [String]?)?
  /// One sentence.
  let help: String
  let read: @Sendable (Meters) -> [MetricSample]

  init(
    _ name: String, _ kind: Kind, unit: String = "", by label: (name: String, values: [String]?)? = nil, _ help: String,
    read: @escaping @Sendable (Meters) -> [MetricSample]
  ) {
    (self.name, self.kind, self.unit, self.label, self.help) = (name, kind, unit, label, help)
    self.read = read
  }

  /// A row whose samples are numbers, one for each value of its label, in order; one that can't be told is left out.
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

  /// A row with one number; nil where it can't be told.
  init(
    _ name: String, _ kind: Kind, unit: String = "", _ help: String,
    total: @escaping @Sendable (Meters) -> UInt64?
  ) {
    self.init(name, kind, unit: unit, help) { meters in
      total(meters).map { [MetricSample(label: nil, value: .number($0))] } ?? []
    }
  }

  /// A row with one number that is no whole one; nil where it can't be told.
  init(
    _ name: String, _ kind: Kind, unit: String, _ help: String,
    real: @escaping @Sendable (Meters) -> Double?
  ) {
    self.init(name, kind, unit: unit, help) { meters in
      real(meters).map { [MetricSample(label: nil, value: .real($0))] } ?? []
    }
  }

  /// The name of its samples, unless it is a histogram, which has several.
  var sampleName: String {
    switch kind {
    case .counter: name + "_total"
    case .info: name + "_info"
    case .gauge, .histogram: name
    }
  }

  /// The names of all its samples.
  var sampleNames: [String] {
    kind == .histogram ? ["_bucket", "_count", "_sum"].map { name + $0 } : [sampleName]
  }
}
