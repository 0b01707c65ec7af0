import Foundation
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The requests of a device for its own data, over any listener.
@Suite(.timeLimit(.minutes(5))) struct OwnReadingTests {
  private func read<Value: Decodable>(
    _ client: Client, _ path: String, as device: TestDevice
  ) async throws -> Value {
    let answer = try await client.request("GET", path, [device.authorization])
    #expect(answer.status == 200, "\(path)")
    return try decodeJSON(Value.self, from: answer.body)
  }

  @Test func `a device reads what it is, and what it is registered for`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let (me, _) = (try await gateway.enroll("me", person: "ada"), try await gateway.enroll("other", person: "bob"))
      let record: DeviceRecord = try await read(client, "/v1/device", as: me)
      #expect(record.name == "me" && record.person == "ada" && record.role == "device")
      #expect(record.apps == [SampleRequest.topic])
      struct Listed: Decodable { var topic: String }
      let apps: [Listed] = try await read(client, "/v1/device/apps", as: me)
      #expect(apps.map(\.topic) == [SampleRequest.topic])
    }
  }

  @Test func `a device follows its own rows of the log, and nobody else's`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let (me, other) = (try await gateway.enroll("me"), try await gateway.enroll("other"))
      for device in [other, me, other] { _ = try await gateway.push(client, to: device.token) }
      for path in ["/v1/device/log/next?after=0", "/v1/device/log/next?after=0&device=other"] {
        let page: LogPage = try await read(client, path, as: me)
        #expect(!page.rows.isEmpty && page.rows.allSatisfy { $0.device == "me" })
        let next: LogPage = try await read(client, "/v1/device/log/next?after=\(page.next)", as: me)
        #expect(next.rows.isEmpty && next.next >= page.next)
      }
      let all: [LogRecord] = try await read(client, "/v1/device/log", as: me)
      let start: LogStart = try await read(client, "/v1/device/log/start?limit=1", as: me)
      let last: LogPage = try await read(client, "/v1/device/log/next?after=\(start.after)", as: me)
      #expect(last.rows.map(\.number) == all.suffix(1).map(\.number))
      for query in ["seconds=61", "seconds=-1", "seconds=nan", "seconds=1e400"] {
        let answer = try await client.request("GET", "/v1/device/log/next?\(query)", [me.authorization])
        #expect(answer.status == 400, "\(query)")
      }
    }
  }

  @Test func `who waits for the log hears of the next push`() async throws {
    try await TestGateway.run { gateway in
      let (client, sender) = (try await gateway.client(), try await gateway.client())
      let me = try await gateway.enroll("me")
      let waiting = Task { () -> LogPage in
        try await read(client, "/v1/device/log/next?seconds=30", as: me)
      }
      _ = try await gateway.push(sender, to: me.token)
      #expect(try await !waiting.value.rows.isEmpty)
    }
  }

  @Test func `a device reads what it reported, and nobody else's reports`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let (me, other) = (try await gateway.enroll("me"), try await gateway.enroll("other"))
      for (number, device) in [me, other].enumerated() {
        try await gateway.registrations.add(
          AdReport(
            at: 1, device: device.id, app: try gateway.registrations.app(topic: SampleRequest.topic).id,
            id: try #require(APNSID(UUID().uuidString)), text: "buy \(number)"))
      }
      let reports: [AdReportRecord] = try await read(client, "/v1/device/ads/reports", as: me)
      #expect(reports.map(\.text) == ["buy 0"])
    }
  }
}
