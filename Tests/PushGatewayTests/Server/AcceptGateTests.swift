import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import LoadTest
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite struct AcceptGateTests {
  @Test func `it is known whether so many descriptors are left`() {
    #expect(!AcceptGate.isShort(of: 1))
    #expect(AcceptGate.isShort(of: 1 << 40))
  }
}
