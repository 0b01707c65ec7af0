import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The routes with which a page subscribes to messages for the time after it is closed.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionRoutesTests {
  private func body(_ endpoint: String = "https://push.example/1", key: [UInt8]? = nil, auth: Int = 16) throws
    -> [UInt8]
  {
    let point = try key ?? ES256Key.generate().publicPoint
    return controlJSON(
      SubscriptionRequest(
        endpoint: endpoint,
        keys: .init(
          p256dh: Base64URL.encode(point), auth: Base64URL.encode([UInt8](repeating: 1, count: auth))),
        quiet: true, silent: true, focus: "work"))
  }

  @Test func `a page subscribes, and its subscription ends with its secret`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let path = "/v1/device/subscription"
      func record() async throws -> SubscriptionRecord {
        try decodeJSON(
          SubscriptionRecord.self, from: try await client.request("GET", path, [device.authorization]).body)
      }
      let first = try await record()
      #expect(Base64URL.decode(first.key.utf8)?.count == ES256Key.pointSize && first.endpoint == nil)
      let put = try await client.request("PUT", path, [device.authorization], body: body()).status
      #expect(put == 204)
      let stored = try #require(gateway.parts.pages.parts.subscriptions.find(device.id))
      #expect(stored.allowsQuiet && stored.state.isSilent && stored.state.focus == "work")
      let second = try await record()
      #expect(second.key == first.key && second.endpoint == "https://push.example/1")
      _ = try await gateway.registrations.rotateSecret(of: device.id)
      #expect(gateway.parts.pages.parts.subscriptions.count == 0)
    }
  }

  @Test func `a removed device has no subscription`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      _ = try await client.request("PUT", "/v1/device/subscription", [device.authorization], body: body())
      #expect(gateway.parts.pages.parts.subscriptions.count == 1)
      try await gateway.parts.devices.remove(device.id)
      #expect(gateway.parts.pages.parts.subscriptions.count == 0)
    }
  }

  @Test(arguments: [
    "http://127.0.0.1/1", "https://127.0.0.1/1", "https://10.0.0.1/1", "https://[fd00::1]/1", "ftp://push.example/1",
    "",
    "https://169.254.169.254/latest", "https://me@push.example/1",
    "https://push.example/" + String(repeating: "a", count: 1024),
  ])
  func `an endpoint of another form, or with a private address, is refused`(_ endpoint: String) async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let status = try await client.request(
        "PUT", "/v1/device/subscription", [device.authorization], body: body(endpoint)
      ).status
      #expect(status == 400)
      #expect(gateway.parts.pages.parts.subscriptions.count == 0)
    }
  }

  @Test func `keys of another form are refused`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for wrong in [try body(key: [4] + [UInt8](repeating: 1, count: 64)), try body(auth: 15), Array("{}".utf8)] {
        let status = try await client.request("PUT", "/v1/device/subscription", [device.authorization], body: wrong)
          .status
        #expect(status == 400)
      }
    }
  }
}
