import HTTP2Transport
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushGateway
@testable import PushStorage

/// Every route, field and line accepts the inputs that once ended a process (Tests/Killers). If the process ends, the
/// run fails.
@Suite(.timeLimit(.minutes(5))) struct KillersTests {
  @Test func `the corpus is there`() {
    #expect(Killers.documents.count > 100)
    #expect(Killers.numbers.count > 40)
  }

  /// Returns the routes with parameters for a request.
  static func paths(_ router: Router, _ device: TestDevice) -> [(method: String, path: String)] {
    router.routes.map { route in
      let parts = route.pattern.map { part in
        switch part {
        case "{topic}": SampleRequest.topic
        case "{name}", "{device}": device.name
        case "{id}": SampleRequest.id
        case "{category}": "NEWS"
        default: String(part)
        }
      }
      return (route.method, "/" + parts.joined(separator: "/"))
    }
  }

  @Test func `no body ends the gateway, on any route, with any credential`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let admin = AdminAPI(
        gateway.parts, status: { GatewayStatus(listening: [], environment: "", started: "", pid: 0) },
        backup: { _ in throw StoreError("none here") })
      let devices = KillersTests.paths(DeviceAPI(gateway.parts).router, device)
      let routes = (devices + KillersTests.paths(admin.router, device)).filter { $0.method != "GET" }
      #expect(routes.count > 20)
      for (method, path) in routes where !path.hasSuffix("/backup") {
        for document in Killers.documents {
          let answer = try await client.request(method, path, [device.authorization], body: document)
          #expect(answer.status != 500, "\(method) \(path) \(document.prefix(40))")
          guard path.hasPrefix("/v1/device/") else { continue }
          #expect(try await client.request(method, path, body: document).status == 401)
        }
      }
      #expect(try await client.request("GET", "/v1/health").status == 200)
    }
  }

  @Test func `no payload ends the gateway`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.open(client, device)
      _ = try await stream.lines(upTo: "caught-up")
      for document in Killers.documents {
        let answer = try await client.request(
          "POST", "/3/device/" + device.token, [try gateway.authorization(), (.apnsTopic, SampleRequest.topic)],
          body: document)
        #expect([200, 400, 413].contains(answer.status))
      }
      for number in Killers.numbers {
        let payload = """
          {"aps":{"badge":\(number),"alert":{"title":"a","loc-args":[\(number)]},"relevance-score":\(number),\
          "content-available":\(number),"sound":{"critical":\(number),"volume":\(number),"name":"a"},"stale-date":\(number)}}
          """
        let fields: [(HeaderName, String)] = [(.apnsExpiration, number)]
        #expect([200, 400, 403].contains(try await gateway.push(client, to: device.token, payload: payload).status))
        #expect([200, 400].contains(try await gateway.push(client, to: device.token, fields).status))
      }
      #expect(try await gateway.push(client, to: device.token).status == 200)
    }
  }

  @Test func `no time of a token ends the gateway`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for number in Killers.numbers {
        for text in [number, "\"\(number)\""] {
          let authorization = try gateway.authorization {
            $0.claims = #"{"iss":"\#(TestGateway.team)","iat":\#(text)}"#
          }
          let answer = try await client.request(
            "POST", "/3/device/" + device.token, [authorization, (.apnsTopic, SampleRequest.topic)],
            body: Array(#"{"aps":{"alert":"a"}}"#.utf8))
          #expect(answer.status == 403, "\(text)")
        }
      }
    }
  }

  @Test func `no line of a device ends the gateway`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for number in Killers.numbers {
        let stream = try await TestStream.open(client, device)
        for type in ["hello", "ack", "undeliverable", "state"] {
          stream.send(#"{"type":"\#(type)","seq":\#(number),"cursor":\#(number),"silent":\#(number)}"#)
        }
        stream.send(#"{"type":"ack","channel":"AAAAAAAAAAAAAAAAAAAAAA==","number":\#(number)}"#)
        stream.send(#"{"type":"presented","id":"\#(SampleRequest.id)","parts":[\#(number)]}"#)
        stream.finish()
        _ = try await stream.lines(upTo: "bye")
        let late = try await client.stream("POST", "/v1/device/stream", [device.authorization])
        late.send(#"{"type":"hello","cursor":\#(number)}"#)
        late.finish()
        for try await _ in late.lines {}
      }
      let stream = try await TestStream.open(client, device)
      for document in Killers.documents where !document.contains(UInt8(ascii: "\n")) {
        stream.send(String(decoding: document, as: UTF8.self))
      }
      stream.finish()
      #expect(try await stream.lines(upTo: "bye").last?.type == "bye")
    }
  }
}
