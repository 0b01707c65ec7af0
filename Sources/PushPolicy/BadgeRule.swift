/// B1: a badge is a count of things waiting for the person, a whole number of at least 0; nothing else is a badge.
enum BadgeRule {
  /// Returns the count that `value`, a payload's `badge`, stands for; `1e2` and `3.0` are whole numbers.
  /// - Throws: B1 when it is no whole number of at least 0, or larger than `Int.max`.
  static func badge(_ value: JSONElement) throws(Violation) -> Int {
    if let count = value.integer ?? value.double.flatMap(whole), count >= 0 { return count }
    throw Violation(
      rule: .b1,
      pointer: "/aps/badge",
      message: "a badge is a whole number of at least 0; this is \(remark(on: value))",
      evidence: [value.evidence]
    )
  }

  /// The number as an integer, when it is one and fits. (`Int(exactly:)` would need libm in a debug build.)
  private static func whole(_ number: Double) -> Int? {
    guard number >= 0, number < 0x1p63 else { return nil }
    let integer = Int(number)
    return Double(integer) == number ? integer : nil
  }

  /// What the value is, and what to send instead.
  private static func remark(on value: JSONElement) -> String {
    switch value.kind {
    case .null: "null: leave badge out to keep the count, or send 0 to clear it"
    case .bool: "the boolean \(value.evidence): send the count itself"
    case .array: "an array: send the count itself"
    case .object: "an object: send the count itself"
    case .integer, .double: remark(onNumber: value.double ?? 0, written: value.evidence)
    case .string: remark(onString: value.string ?? "", written: value.evidence)
    }
  }

  private static func remark(onNumber number: Double, written: String) -> String {
    if number < 0 { return "the negative number \(written): send 0 to clear the badge" }
    if number >= 0x1p63 { return "\(written), which is too large: send at most \(Int.max)" }
    return "the fraction \(written): send the count without a fraction"
  }

  private static func remark(onString string: String, written: String) -> String {
    let isDigits = !string.isEmpty && string.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    if isDigits, let count = Int(string) { return "the string \(written): send \(count)" }
    return "the string \(written): send the count itself"
  }
}
