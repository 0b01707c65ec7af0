/// Rule B1: a badge is the number of items that await the user, a whole number of at least 0; no other value is a
/// badge.
extension PushNotification {
  /// Returns the count of `value`, a payload's `badge`; `1e2` and `3.0` are whole numbers.
  ///
  /// - Throws: B1 if it is not a whole number of at least 0, or is larger than `Int.max`.
  static func badgeCount(_ value: JSONElement) throws(Violation) -> Int {
    if let count = value.integer ?? value.double.flatMap(whole), count >= 0 { return count }
    throw Violation(
      rule: .b1,
      pointer: "/aps/badge",
      message: "a badge is a whole number of at least 0; this is \(remark(on: value))",
      evidence: [value.evidence]
    )
  }

  /// Returns the number as an integer; nil if it is not a whole number or is too large. (`Int(exactly:)` would need
  /// libm in a debug build.)
  private static func whole(_ number: Double) -> Int? {
    guard number >= 0, number < 0x1p63 else { return nil }
    let integer = Int(number)
    return Double(integer) == number ? integer : nil
  }

  /// Describes an invalid value, and the value to send instead.
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
