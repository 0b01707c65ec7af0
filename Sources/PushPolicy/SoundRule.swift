/// Rule S1: a sound is named by a bare file name, which can only refer to the app's own sounds.
extension PushNotification.Sound {
  /// Reads `value`, a payload's `sound`: a name, or an object with `name`, `critical` and `volume`.
  ///
  /// An empty name is not a sound, and an object without a name plays `default`. A value of another type counts as
  /// absent, as does a name with a violation.
  static func read(
    _ value: JSONElement, into sound: inout Self?, violations: inout [Violation],
    faults: inout [SchemaError]
  ) {
    if let name = value.string {
      read(name, at: "/aps/sound", into: &sound, violations: &violations)
    } else if value.kind == .object {
      read(object: value, into: &sound, violations: &violations, faults: &faults)
    }
  }

  private static func read(
    object: JSONElement,
    into sound: inout Self?,
    violations: inout [Violation],
    faults: inout [SchemaError]
  ) {
    var named: Self? = Self(name: "default")
    var isCritical = false
    var volume = 1.0
    object.visitMembers { key, value in
      APSSchema.sound.check(key, value, &faults)
      key.checkVibration(in: "/aps/sound", violations: &violations)
      switch key {
      case "name":
        if let name = value.string { read(name, at: "/aps/sound/name", into: &named, violations: &violations) }
      case "critical": isCritical = value.flag ?? isCritical
      case "volume": volume = value.double.map { min(max($0, 0), 1) } ?? volume
      default: break
      }
    }
    named?.isCritical = isCritical
    named?.volume = volume
    sound = named
  }

  private static func read(
    _ name: String,
    at pointer: String,
    into sound: inout Self?,
    violations: inout [Violation]
  ) {
    if let fault = fault(in: name) {
      let message = "a sound is named by a bare file name such as \"chime.caf\"; this name \(fault)"
      violations.append(Violation(rule: .s1, pointer: pointer, message: message, evidence: [name.evidence]))
    } else {
      sound = name.isEmpty ? nil : Self(name: name)
    }
  }

  /// Describes why `name` is not a bare file name, and how to correct it; nil if it is one.
  private static func fault(in name: String) -> String? {
    var previous: Unicode.Scalar = " "
    for scalar in name.unicodeScalars {
      switch scalar {
      case "/", "\\": return "has a path separator: send only the last component"
      case "." where previous == ".": return "has \"..\": leave it out"
      case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}": return "has a control character: leave it out"
      default: previous = scalar
      }
    }
    return nil
  }
}
