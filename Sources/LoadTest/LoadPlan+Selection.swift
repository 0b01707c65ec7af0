/// The devices that take part in a test, and the times that it measures.
extension LoadPlan {
  /// Returns true if the index belongs to the given percentage of all indices, which is spread evenly.
  package static func isOf(_ percent: Double, _ index: Int) -> Bool {
    Int(Double(index + 1) * percent / 100) > Int(Double(index) * percent / 100)
  }

  var isCatchUp: Bool { if case .catchUp = kind { true } else { false } }

  /// Returns true if a time in nanoseconds after the start is measured: it is after the warm-up.
  func isMeasured(_ time: UInt64) -> Bool {
    let seconds = Double(time) / 1e9
    return seconds >= warmUp && (pushes != nil || seconds < warmUp + duration)
  }

  /// Returns true if the device is expected to receive the pushes accepted for it.
  func isExpected(_ device: Int) -> Bool {
    switch kind {
    case .accept, .idle: false
    case .catchUp: device == 0
    case .deliver, .storm: !LoadPlan.isOf(offline, devices - 1 - device)
    }
  }
}
