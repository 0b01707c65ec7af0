import GatewayProtocol
import Testing

@testable import pushcli

@Suite struct GatewayAddressTests {
  @Test(
    arguments: [
      ("0.0.0.0:2197", "127.0.0.1:2197"), ("[::]:2197", "[::1]:2197"), ("127.0.0.1:2197", "127.0.0.1:2197"),
      ("10.0.0.0:2197", "10.0.0.0:2197"), ("[::1]:443", "[::1]:443"), ("0.0.0.0.example:1", "0.0.0.0.example:1"),
    ])
  func `a gateway that listens everywhere is reached by loopback`(_ address: String, _ expected: String) throws {
    #expect(try GatewayAddress(address).reachable.description == expected)
  }

  @Test(
    arguments: [
      ("gateway.example:443", "gateway.example:443"), ("https://gateway.example", "gateway.example:443"),
      ("HTTPS://gateway.example:2197/join", "gateway.example:2197"), ("[::1]:1", "[::1]:1"),
      ("https://[2001:db8::1]/", "[2001:db8::1]:443"),
    ])
  func `an address is read as people write it`(_ text: String, _ expected: String) throws {
    #expect(try GatewayAddress(text).description == expected)
  }

  @Test(arguments: ["", ":", "gateway", "gateway:", "gateway:0", "gateway:65536", ":1", "http://gateway:1", "a:-1"])
  func `what is none is refused`(_ text: String) {
    #expect(throws: CommandFailure.self) { try GatewayAddress(text) }
  }

  @Test func `a port that nobody names may be the usual one`() throws {
    #expect(try GatewayAddress("gateway", defaultPort: 2197).port == 2197)
    #expect(try GatewayAddress("gateway:1", defaultPort: 2197).port == 1)
    #expect(throws: CommandFailure.self) { try GatewayAddress("gateway:x", defaultPort: 2197) }
  }

  @Test(arguments: [("127.0.0.1:1", true), ("[::1]:1", true), ("localhost:1", true), ("128.0.0.1:1", false)])
  func `loopback is this machine`(_ text: String, _ isLoopback: Bool) throws {
    #expect(try GatewayAddress(text).isLoopback == isLoopback)
  }
}
