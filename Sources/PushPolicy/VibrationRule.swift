/// Rule S3: a sender cannot make the device vibrate. Keys that request vibration are refused, so that the sender gets
/// the reason.
enum VibrationRule {
  /// Reports a violation if `key`, a member of the object at `pointer`, requests vibration, in any case of its
  /// letters.
  static func check(_ key: JSONKey, in pointer: String, violations: inout [Violation]) {
    guard applies(to: key) else { return }
    let name = key.string
    violations.append(
      Violation(
        rule: .s3,
        pointer: "\(pointer)/\(name.pointerToken)",
        message: "vibration is the user's setting only: omit \(name.evidence)",
        evidence: [name.evidence]
      )
    )
  }

  /// Returns true if a key requests vibration.
  static func applies(to key: JSONKey) -> Bool {
    key.isAnyCase(of: "vibrate") || key.isAnyCase(of: "vibration") || key.isAnyCase(of: "vibration-pattern")
      || key.isAnyCase(of: "haptic")
  }
}
