import GatewayProtocol
import Testing

@testable import PushGateway

@Suite struct UpstreamSettingTests {
  @Test(arguments: ["off", "apns", "https://push.example:2197", "https://127.0.0.1:443", "https://[::1]:2197"])
  func `a value reads as it was written`(_ text: String) {
    #expect(UpstreamSetting(text)?.text == text)
  }

  @Test func `the address of another gateway has a host and a port`() {
    #expect(
      UpstreamSetting("https://[::1]:2197") == .gateway(GatewayAddress(host: "::1", port: 2197)))
  }

  @Test(arguments: [
    "", "on", "APNS", "push.example:2197", "http://push.example:2197", "https://push.example", "https://:2197",
    "https://push.example:0", "https://push.example:70000", "https://push.example:2197/", "https://a@b:2197",
  ])
  func `any other text is no value`(_ text: String) {
    #expect(UpstreamSetting(text) == nil)
  }

  @Test func `no upstream is the default, and it needs no certificates`() throws {
    #expect(Configuration.defaults.provider.upstream == .off)
    #expect(try UpstreamTargets(Configuration.defaults) == nil)
  }

  @Test func `Apple's service has an address for each environment, and its answers need no loop check`() throws {
    var configuration = Configuration.defaults
    configuration.provider.upstream = .apns
    configuration.provider.upstreamAuthority = "/nonexistent/ca.pem"
    let error = #expect(throws: ConfigurationError.self) { try UpstreamTargets(configuration) }
    #expect(error?.description.contains("upstream_ca") == true)
  }
}
