/// Rule S3: a sender cannot make the device vibrate. Keys that request vibration are refused, so that the sender gets
/// the reason.
extension JSONKey {
  /// Reports a violation if the key, of a member of the object at `pointer`, requests vibration, in any case of its
  /// letters.
  func checkVibration(in pointer: String, violations: inout [Violation]) {
    guard requestsVibration else { return }
    let name = string
    violations.append(
      Violation(
        rule: .s3,
        pointer: "\(pointer)/\(name.pointerToken)",
        message: "vibration is the user's setting only: omit \(name.evidence)",
        evidence: [name.evidence]
      )
    )
  }

  var requestsVibration: Bool {
    isAnyCase(of: "vibrate") || isAnyCase(of: "vibration") || isAnyCase(of: "vibration-pattern")
      || isAnyCase(of: "haptic")
  }
}
