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

  @Test(arguments: [(0.0, 0...0), (100.0, 1000...1000), (30.0, 250...350)])
  func `a rate strikes so many of a hundred`(_ rate: Double, _ expected: ClosedRange<Int>) throws {
    let table = FaultTable()
    try table.set([fault { ($0.rate, $0.seed) = (rate, 1) }], now: 0)
    let injections = (0..<1000).count { _ in table.injection(target, now: 0) != nil }
    #expect(expected.contains(injections))
  }
}
