import Foundation
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct ListsAPITests {
  @Test func `a device has each app once, with the environments in which it is registered`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let registrations = gateway.registrations
      for topic in ["com.example.mail", "com.example.old"] {
        _ = try await registrations.putApp(topic: topic, name: "App", icon: "A", policyMode: .enforce)
      }
      _ = try await registrations.register(device.id, topic: SampleRequest.topic, environment: .production)
      _ = try await registrations.register(device.id, topic: "com.example.mail", environment: .production)
      let past = gateway.clock.seconds * 1000 - 1
      _ = try await registrations.register(
        device.id, topic: "com.example.old", environment: .development, expires: past, now: past - 1)
      let answer = try await client.request("GET", "/admin/v1/devices")
      let record = try #require(try JSONDecoder().decode([DeviceRecord].self, from: Data(answer.body)).first)
      #expect(record.apps == ["com.example.mail", SampleRequest.topic])
      #expect(
        record.registrations == [
          .init(topic: "com.example.mail", environments: ["production"]),
          .init(topic: SampleRequest.topic, environments: ["development", "production"]),
        ])
      // `appendJSON` is written by hand. Its output must equal that of the encoder.
      var written: [UInt8] = []
      record.appendJSON(to: &written)
      #expect(written == controlJSON(record))
    }
  }
}
