import Foundation
import HTTP2Transport
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The routes of event targets, and the senders that follow them.
@Suite(.timeLimit(.minutes(5))) struct EventTargetsAPITests {
  private func run(_ body: (TestGateway, Client) async throws -> Void) async throws {
    try await TestGateway.run { gateway in
      do {
        try await body(gateway, try await gateway.client())
      } catch {
        await gateway.parts.events.stop()
        throw error
      }
      await gateway.parts.events.stop()
    }
  }

  private func list(_ client: Client) async throws -> [EventTargetRecord] {
    try decodeJSON([EventTargetRecord].self, from: try await client.request("GET", AdminPath.eventTargets()).body)
  }

  @Test func `a target is added, listed, rotated and removed, and its secret is shown once`() async throws {
    try await run { gateway, client in
      let body = #"{"name":"shop","url":"http://127.0.0.1:1/e","apps":["\#(SampleRequest.topic)"],"events":["viewed"]}"#
      let added = try await client.request("POST", AdminPath.eventTargets(), body: Array(body.utf8))
      #expect(added.status == 201)
      let created = try decodeJSON(CreatedEventTarget.self, from: added.body)
      #expect(created.secret.hasPrefix("whsec_"))
      let listed = try await client.request("GET", AdminPath.eventTargets())
      #expect(!String(decoding: listed.body, as: UTF8.self).contains(created.secret))
      let records = try await list(client)
      #expect(records.map(\.name) == ["shop"])
      #expect(records.first?.apps == [SampleRequest.topic] && records.first?.events == ["viewed"])
      let again = try await client.request("POST", AdminPath.eventTargets(), body: Array(body.utf8)).status
      #expect(again == 409)
      let rotated = try await client.request("POST", AdminPath.eventTargetSecret("shop"))
      #expect(rotated.status == 201)
      #expect(try decodeJSON(CreatedEventTarget.self, from: rotated.body).secret != created.secret)
      let removed = try await client.request("DELETE", AdminPath.eventTarget("shop")).status
      let twice = try await client.request("DELETE", AdminPath.eventTarget("shop")).status
      #expect(removed == 204 && twice == 404)
    }
  }

  @Test(arguments: [
    #"{"name":"a","url":"http://shop.example/"}"#, #"{"name":"a","url":"https://me@shop.example/"}"#,
    #"{"name":"a/b","url":"https://shop.example/"}"#, #"{"name":"a","url":"https://shop.example/","events":["none"]}"#,
    #"{"name":"a","url":"https://shop.example/","events":[]}"#,
    #"{"name":"a","url":"https://shop.example/","apps":[]}"#,
    #"{"name":"a","url":"https://shop.example/","ca":"PEM"}"#, #"{"name":"a"}"#,
    #"{"name":"a","url":"https://shop.example/","secret":"whsec_AA=="}"#,
  ])
  func `a request with a wrong member is refused`(_ body: String) async throws {
    try await run { gateway, client in
      let status = try await client.request("POST", AdminPath.eventTargets(), body: Array(body.utf8)).status
      #expect(status == 400)
      #expect(gateway.parts.events.targets.list.isEmpty)
    }
  }

  @Test func `a disabled target has no sender, is a warning, and can be resumed`() async throws {
    try await run { gateway, client in
      let body = #"{"name":"shop","url":"http://127.0.0.1:1/"}"#
      _ = try await client.request("POST", AdminPath.eventTargets(), body: Array(body.utf8))
      let events = gateway.parts.events
      let target = try events.targets.target(named: "shop")
      #expect(events.state(of: target) != nil)
      #expect(events.warnings.isEmpty)
      try await events.targets.disable("shop", at: 5_000)
      #expect(events.state(of: target) == nil)
      #expect(events.warnings.map(\.part) == ["event-targets"])
      #expect(gateway.parts.healthCheck.health.status == "ready")
      let listed = try await list(client)
      #expect(listed.first?.disabled != nil)
      let resumed = try await client.request("POST", AdminPath.eventTargetResume("shop")).status
      #expect(resumed == 204)
      #expect(events.state(of: target) != nil)
      #expect(events.lag == 0)
    }
  }

  @Test func `a test of a target without a server has an error in words`() async throws {
    try await run { _, client in
      let body = #"{"name":"shop","url":"http://127.0.0.1:1/"}"#
      _ = try await client.request("POST", AdminPath.eventTargets(), body: Array(body.utf8))
      let answer = try await client.request("POST", AdminPath.eventTargetTest("shop"))
      let record = try decodeJSON(EventTargetTestRecord.self, from: answer.body)
      #expect(record.status == nil)
      #expect(record.error == "no server answers at 127.0.0.1, port 1")
    }
  }
}
