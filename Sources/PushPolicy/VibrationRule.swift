/// S3: a sender cannot make the device vibrate; the keys by which one would try are refused, so that it learns so.
enum VibrationRule {
  /// Reports `key`, a member of the object at `pointer`, when it asks for vibration in any case of its letters.
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

  /// Whether a key asks for vibration.
  static func applies(to key: JSONKey) -> Bool {
    key.isAnyCase(of: "vibrate") || key.isAnyCase(of: "vibration") || key.isAnyCase(of: "vibration-pattern")
      || key.isAnyCase(of: "haptic")
  }
}
