import Testing

@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway

@Suite struct FaultTableTests {
  private let target = FaultTarget(app: "com.example.news", connection: 1)

  private func fault(_ name: String = "busy", _ change: (inout FaultRule) -> Void = { _ in }) throws -> Fault {
    var rule = FaultRule(name: name)
    rule.reason = "TooManyRequests"
    change(&rule)
    return try Fault(rule)
  }

  @Test func `without faults nothing is asked`() throws {
    let table = FaultTable()
    #expect(!table.isArmed)
    try table.set([fault()], now: 0)
    #expect(table.isArmed)
    table.clear("busy")
    #expect(!table.isArmed)
  }

  @Test func `a fault that is used up costs no more than none, and is still listed`() throws {
    let table = FaultTable()
    try table.set([fault { $0.count = 1 }], now: 0)
    #expect(table.injection(target, now: 0) != nil)
    #expect(table.injection(target, now: 0) == nil)
    #expect(!table.isArmed)
    let record = try #require(table.list(now: 0).first)
    #expect(record.injections == 1 && record.left == 0 && !record.isActive)
  }

  @Test func `a fault ends with its time`() throws {
    let table = FaultTable()
    try table.set([fault { $0.seconds = 2 }], now: 1000)
    #expect(table.injection(target, now: 2999) != nil)
    #expect(table.injection(target, now: 3000) == nil)
    #expect(table.list(now: 2000).first?.secondsLeft == 1)
  }

  @Test func `a fault with a time ends when the clock is set back before it`() throws {
    let table = FaultTable()
    try table.set([fault { $0.seconds = 2 }], now: 10_000)
    #expect(table.list(now: 10_000).first?.isActive == true && table.list(now: 9_999).first?.isActive == false)
    #expect(table.injection(target, now: 9_999) == nil)
  }

  @Test func `the first that fits strikes, in the order of setting`() throws {
    let table = FaultTable()
    try table.set([fault("other") { $0.app = "com.example.other" }, fault("one"), fault("two")], now: 0)
    #expect(table.injection(target, now: 0)?.fault.rule.name == "one")
  }

  @Test func `one more than the limit is refused, and nothing of it is set`() throws {
    let table = FaultTable()
    let faults = try (0..<Limits.maximumFaults).map { try fault(String($0)) }
    try table.set(faults, now: 0)
    #expect(throws: FaultError.self) { try table.set([fault("one more")], now: 0) }
    try table.set([fault("0") { $0.count = 5 }], now: 0)
    #expect(table.list(now: 0).count == Limits.maximumFaults)
  }

  @Test func `a name may not occur twice in a list`() throws {
    let table = FaultTable()
    let error = #expect(throws: FaultError.self) { try table.set([fault("a"), fault("a")], now: 0) }
    #expect(error?.description == #"fault "a": the name occurs twice"#)
    #expect(!table.isArmed)
  }

  @Test func `the faults of a token replace only its own, whatever their names`() throws {
    let table = FaultTable()
    func names() -> [String] { table.list(now: 0).map { "\($0.rule.token ?? "-") \($0.rule.name)" } }
    func faults(_ token: String, _ names: String...) throws -> [Fault] {
      try names.map { name in try fault(name) { $0.token = token } }
    }
    try table.set([fault("1")], now: 0)
    try table.set(faults("aa", "1", "2"), of: "aa", now: 0)
    try table.set(faults("bb", "1"), of: "bb", now: 0)
    #expect(names() == ["- 1", "aa 1", "aa 2", "bb 1"])
    try table.set(faults("aa", "3"), of: "aa", now: 0)
    try table.set([fault("1")], now: 0)
    #expect(names() == ["bb 1", "aa 3", "- 1"])
    table.clear(of: "bb")
    try table.set([], of: "aa", now: 0)
    #expect(names() == ["- 1"] && table.isArmed && table.brokenInvariant() == nil)
  }

  @Test func `completed faults of tests do not fill the table`() throws {
    let table = FaultTable()
    let others = try (1..<Limits.maximumFaults).map { number in
      try fault(String(number)) { $0.app = "com.example.other" }
    }
    try table.set(others, now: 0)
    for token in ["aa", "bb", "cc"] {
      let once = try fault {
        $0.token = token
        $0.count = 1
      }
      try table.set([once], of: token, now: 0)
      #expect(table.injection(FaultTarget(token: token, connection: 1), now: 0) != nil)
    }
    try table.set([fault { $0.token = "dd" }], of: "dd", now: 0)
    let error = #expect(throws: FaultError.self) { try table.set([fault { $0.token = "ee" }], of: "ee", now: 0) }
    #expect(error?.description == "at most 1000 faults can be set: delete the devices of ended tests first")
  }

  @Test(arguments: [(0.0, 0...0), (100.0, 1000...1000), (30.0, 250...350)])
  func `a rate strikes so many of a hundred`(_ rate: Double, _ expected: ClosedRange<Int>) throws {
    let table = FaultTable()
    try table.set([fault { ($0.rate, $0.seed) = (rate, 1) }], now: 0)
    let injections = (0..<1000).count { _ in table.injection(target, now: 0) != nil }
    #expect(expected.contains(injections))
  }
}
