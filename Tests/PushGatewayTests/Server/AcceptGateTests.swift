import Testing

@testable import HTTP2Transport

@Suite struct AcceptGateTests {
  @Test func `it is known whether so many descriptors are left`() {
    #expect(!AcceptGate.isShort(of: 1))
    #expect(AcceptGate.isShort(of: 1 << 40))
  }
}
