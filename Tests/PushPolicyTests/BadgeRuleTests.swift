import PushPolicy
import Testing

@Suite struct BadgeRuleTests {
  @Test(arguments: [
    ("0", 0), ("1", 1), ("9223372036854775807", Int.max), ("1e2", 100), ("3.0", 3), ("-0", 0), ("-0.0", 0),
    ("8e18", 8_000_000_000_000_000_000),
    ("1E18", 1_000_000_000_000_000_000),
  ])
  func `B1: a whole number of at least 0 is a badge`(_ value: String, _ badge: Int) throws {
    let payload = try aps(#""badge":\#(value)"#)
    #expect(payload.notification.badge == badge)
    #expect(payload.violations.isEmpty)
  }

  @Test(arguments: [
    (#""7""#, #"the string "7": send 7"#, #""7""#),
    (#""007""#, #"the string "007": send 7"#, #""007""#),
    (#""99+""#, #"the string "99+": send the count itself"#, #""99+""#),
    (#""""#, #"the string "": send the count itself"#, #""""#),
    (
      #""99999999999999999999""#, #"the string "99999999999999999999": send the count itself"#,
      #""99999999999999999999""#
    ),
    ("-1", "the negative number -1: send 0 to clear the badge", "-1"),
    ("-1.5", "the negative number -1.5: send 0 to clear the badge", "-1.5"),
    ("1.5", "the fraction 1.5: send the count without a fraction", "1.5"),
    ("1e-1", "the fraction 0.1: send the count without a fraction", "0.1"),
    ("1.5e0", "the fraction 1.5: send the count without a fraction", "1.5"),
    (
      "9223372036854775808", "9223372036854775808, which is too large: send at most 9223372036854775807",
      "9223372036854775808"
    ),
    (
      "9223372036854775808.0", "9.223372036854776e+18, which is too large: send at most 9223372036854775807",
      "9.223372036854776e+18"
    ),
    ("1e300", "1e+300, which is too large: send at most 9223372036854775807", "1e+300"),
    ("true", "the boolean true: send the count itself", "true"),
    ("false", "the boolean false: send the count itself", "false"),
    ("null", "null: leave badge out to keep the count, or send 0 to clear it", "null"),
    ("[1]", "an array: send the count itself", "[…]"),
    (#"{"count":1}"#, "an object: send the count itself", "{…}"),
  ])
  func `B1: nothing else is a badge`(_ value: String, _ remark: String, _ evidence: String) throws {
    let payload = try aps(#""badge":\#(value)"#)
    #expect(payload.notification.badge == nil)
    let message = "a badge is a whole number of at least 0; this is " + remark
    #expect(
      payload.violations == [Violation(rule: .b1, pointer: "/aps/badge", message: message, evidence: [evidence])]
    )
  }

  @Test(arguments: [
    #""badge":"7","badge":1"#, #""badge":1,"badge":"7""#, #""badge":2,"b\u0061dge":true,"badge":1"#,
  ])
  func `B1: every badge of a payload is checked and the last valid one holds`(_ members: String) throws {
    let payload = try aps(members)
    #expect(payload.notification.badge == 1)
    #expect(payload.violations.map(\.rule) == [.b1])
  }

  @Test func `B1: a badge of an aps that another one follows is checked too`() throws {
    let payload = try payload(#"{"aps":{"badge":"7"},"aps":{"badge":1},"aps":3}"#)
    #expect(payload.notification.badge == 1)
    #expect(payload.violations.map(\.rule) == [.b1])
  }
}
