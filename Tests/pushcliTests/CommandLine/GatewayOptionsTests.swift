import Testing

@testable import pushcli

@Suite struct GatewayOptionsTests {
  @Test(
    arguments: [
      ("0.0.0.0:2197", "127.0.0.1:2197"), ("[::]:2197", "[::1]:2197"), ("127.0.0.1:2197", "127.0.0.1:2197"),
      ("10.0.0.0:2197", "10.0.0.0:2197"), ("[::1]:443", "[::1]:443"), ("0.0.0.0.example:1", "0.0.0.0.example:1"),
      ("", ""),
    ])
  func `a gateway that listens everywhere is reached by loopback`(_ address: String, _ expected: String) {
    #expect(GatewayOptions.reachable(address) == expected)
  }
}
