import PushCore

/// Says on standard error which gateways of a cell have not answered, each time that these are others.
struct UnansweredGateways {
  private var told: [String] = []

  /// - Parameter names: of the gateways that have not answered; nil from a gateway that is alone.
  mutating func tell(_ names: [String]?) {
    guard let names, names != told else { return }
    told = names
    guard !names.isEmpty else { return }
    Output.words("rows are missing: no answer from \(names.joined(separator: ", "))")
  }
}
