import Testing

@testable import PushGateway

@Suite struct AcceptGateTests {
  @Test func `it is known whether so many descriptors are left`() {
    #expect(!AcceptGate.isShort(of: 1))
    #expect(AcceptGate.isShort(of: 1 << 40))
  }
}
