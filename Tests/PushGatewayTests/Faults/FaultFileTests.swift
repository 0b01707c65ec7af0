import PushTesting
import Testing

@testable import GatewayProtocol
@testable import PushGateway

@Suite struct FaultFileTests {
  private func rules(_ members: String) throws(FaultError) -> [FaultRule] {
    try FaultRule.list(yaml: "faults: [{name: a, reason: BadPath, \(members)}]")
  }

  @Test(arguments: [
    ("250ms", 0.25), ("30s", 30), ("10m", 600), ("2h", 7200), ("1d", 86_400), ("5", 5), ("0.5", 0.5), ("\"5\"", 5),
  ])
  func `a time in a scenario is a number with a unit, or of seconds`(_ text: String, _ seconds: Double) throws {
    #expect(try rules("for: \(text)").map(\.seconds) == [seconds])
    #expect(try rules("delay: \(text)").map(\.delay) == [seconds])
  }

  @Test(arguments: ["for", "delay", "count", "rate", "status", "streams", "throttle", "seed", "retry-after"])
  func `no number of a scenario does more than to be refused`(_ name: String) {
    for number in [
      "-9223372036854775808", "-1", "-0.5", "9223372036854775808", "99999999999999999999999", "1e300", "-1e300",
      "1e400", ".nan", "9223372036854775807:59", "0x7fffffffffffffffff", "-.inf", "99999999999999999999s",
      "9223372036854775807d", "106751991168d", "-5s", "infs", "nan",
    ] {
      #expect(throws: FaultError.self, "\(number)") { try rules("\(name): \(number)") }
    }
  }

  @Test func `aliases that stand for a large document are refused before they are followed`() throws {
    let lists = (1...4).map { "- &b\($0) [" + Array(repeating: "*b\($0 - 1)", count: 10).joined(separator: ",") + "]" }
    let bomb = (["faults:", "- &b0 [x,x,x,x,x,x,x,x,x,x]"] + lists).joined(separator: "\n")
    let words = "invalid YAML: more than 16 aliases (`*name`): write their values in place of them"
    let error = #expect(throws: FaultError.self) { try FaultRule.list(yaml: bomb) }
    #expect(error?.description == words)
    // Some aliases are of use.
    let few = "faults: [{name: a, reason: &reason BadPath}, {name: b, reason: *reason}]"
    #expect(try FaultRule.list(yaml: few).map(\.reason) == ["BadPath", "BadPath"])
  }

  @Test(arguments: [
    "[a]: 1", "!!set {? [b]}", "? {a: b}\n: c", "faults: [[]]", "faults: [{[name]: a}]", "faults: !!set {a}",
  ])
  func `a document of another form is refused`(_ yaml: String) {
    #expect(throws: FaultError.self) { try FaultRule.list(yaml: yaml) }
  }
}
