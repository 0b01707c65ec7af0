/// Prints on standard error the gateways of a cluster that have not answered, each time that the list changes.
struct UnansweredGateways {
  private var reported: [String] = []

  /// - Parameter names: the names of the gateways that have not answered; nil from a gateway without a cluster.
  mutating func report(_ names: [String]?) {
    guard let names, names != reported else { return }
    reported = names
    guard !names.isEmpty else { return }
    Output.words("rows are missing: no answer from \(names.joined(separator: ", "))")
  }
}
