import Synchronization
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The tap between the devices of a test gateway and the gateway.
@Suite(.timeLimit(.minutes(5))) struct DeviceTapTests {
  /// The events of a tap, which drops acknowledgements of the number 2.
  private final class Events: Sendable {
    private let events = Mutex<[DeviceTap.Event]>([])

    var all: [DeviceTap.Event] { events.withLock { $0 } }

    func note(_ event: DeviceTap.Event) -> Bool {
      events.withLock { $0.append(event) }
      return event != .acknowledgement(stream: 1, seq: 2)
    }
  }

  /// Runs a test with a gateway behind a tap, and a new device.
  private func run(
    _ tap: DeviceTap, _ body: (RecordingGateway, Client, TestDevice) async throws -> Void
  ) async throws {
    var options = TestOptions()
    options.deviceTap = tap
    try await RecordingGateway.run(options) { gateway in
      let registrations = gateway.parts.registrations
      let (device, secret) = try await registrations.enroll(name: "desk", person: nil, by: .newPerson)
      let known = TestDevice(id: device.id, name: "desk", secret: secret, token: "")
      let client = try await gateway.client()
      try await body(gateway, client, known)
      client.close()
    }
  }

  @Test func `acknowledgements are reported, and are dropped on request`() async throws {
    let events = Events()
    try await run(DeviceTap { events.note($0) }) { _, client, device in
      let stream = try await TestStream.open(client, device)
      #expect(try await stream.lines(upTo: "caught-up").map(\.type) == ["welcome", "caught-up"])
      for seq in 1...3 { stream.acknowledge(UInt64(seq)) }
      stream.finish()
      #expect(try await stream.lines(upTo: "never").map(\.type) == ["bye"])
      let body = Array(#"{"seq":2}"#.utf8)
      let path = "/v1/device/acknowledgements"
      let answer = try await client.request("POST", path, [device.authorization], body: body)
      #expect(answer.status == 500)
      let begun: [DeviceTap.Event] = [
        .opened(stream: 1, device: "desk"), .acknowledgement(stream: 1, seq: 1), .acknowledgement(stream: 1, seq: 2),
        .acknowledgement(stream: 1, seq: 3),
      ]
      #expect(Array(events.all.prefix(4)) == begun)
      #expect(events.all.last == .acknowledgement(stream: 1, seq: 2))
      #expect(events.all.contains(.closed(stream: 1)))
    }
  }

  @Test func `lines are added in pieces, and a stream is ended or refused`() async throws {
    let events = Events()
    let tap = DeviceTap { events.note($0) }
    try await run(tap) { _, client, device in
      let stream = try await TestStream.caughtUp(client, device)
      tap.send([#"{"type":"weather","place":"Zürich"}"#, #"{"type":"later"}"#], inPiecesOf: 7)
      let added = try await stream.lines(upTo: "later").map(\.text)
      #expect(added == [#"{"type":"weather","place":"Zürich"}"#, #"{"type":"later"}"#])
      tap.endStream()
      #expect(try await stream.lines(upTo: "never").map(\.text) == [#"{"type":"bye","reason":"shutdown"}"#])
      tap.refuse(true)
      await #expect(throws: ClientError.self) { _ = try await TestStream.open(client, device) }
      #expect(events.all.last == .refused)
      tap.refuse(false)
      let other = try await TestStream.open(client, device)
      #expect(try await other.next()?.type == "welcome")
      tap.endConnection()
      #expect(try await other.lines(upTo: "bye").last?.text == #"{"type":"bye","reason":"shutdown"}"#)
    }
  }
}
