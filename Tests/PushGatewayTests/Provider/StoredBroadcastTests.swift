import Foundation
import HTTP2Transport
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Broadcasts that are stored, at a gateway with a database.
@Suite(.timeLimit(.minutes(5))) struct StoredBroadcastTests {
  private static let payload = Array(#"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#.utf8)

  private func send(_ gateway: TestGateway, _ client: Client, _ channel: ChannelID) async throws -> Client.Answer {
    let fields: [(HeaderName, String)] = [
      try gateway.authorization(), (.apnsChannelID, channel.description), (.apnsPushType, "liveactivity"),
      (.apnsExpiration, "\(gateway.clock.seconds + 3600)"),
    ]
    return try await client.request(
      "POST", "/4/broadcasts/apps/" + SampleRequest.topic, fields, body: StoredBroadcastTests.payload)
  }

  private func nextNumber(_ stream: TestStream) async throws -> Int? {
    let line = try await stream.next()
    return (line?.json["number"] as? NSNumber)?.intValue
  }

  @Test func `a broadcast that can't be stored is refused, and the next one has its number`() async throws {
    try await TestGateway.run { gateway in
      let (channels, path) = (gateway.parts.channels, gateway.folder.file("push.sqlite"))
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let channel = try #require(
        try await channels.create(
          app: app, environment: .development, policy: .mostRecentMessage, now: gateway.clock.seconds * 1000
        ).first)
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      _ = try await channels.subscribe([device.id], to: channel)
      let stream = try await TestStream.caughtUp(client, device)
      let first = try await send(gateway, client, channel)
      let firstNumber = try await nextNumber(stream)
      #expect(first.status == 200 && firstNumber == 1)

      try await RefusedWrites.begin("channel_message", in: path)
      let refused = try await send(gateway, client, channel)
      #expect(refused.status == 503)
      #expect(String(decoding: refused.body, as: UTF8.self) == #"{"reason":"ServiceUnavailable"}"#)
      #expect(channels.channel(channel)?.lastNumber == 1)
      try await RefusedWrites.end("channel_message", in: path)

      let second = try await send(gateway, client, channel)
      // The device has received nothing of the refused one.
      let secondNumber = try await nextNumber(stream)
      #expect(second.status == 200 && secondNumber == 2)
      let accepted = try await gateway.rows(.init(events: [.accepted]))
      #expect(accepted.count == 2)
    }
  }
}
