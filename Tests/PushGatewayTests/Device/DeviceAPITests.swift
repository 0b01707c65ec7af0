import Foundation
import HTTP2Transport
import PushPolicy
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct DeviceAPITests {
  func object(_ answer: Client.Answer) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
  }

  static let requests = [
    ("PUT", "/v1/device/apps/com.example.news", 200), ("PUT", "/v1/device/apps/com.example.nothing", 404),
    ("DELETE", "/v1/device/apps/com.example.nothing", 404), ("GET", "/v1/device/preferences", 200),
    ("GET", "/v1/device/preferences/apps/com.example.news", 200),
    ("GET", "/v1/device/preferences/apps/com.example.news/categories/SPORT", 200), ("GET", "/v1/device/log", 200),
    ("GET", "/v1/device/log?id=x", 400), ("GET", "/v1/device/log?since=x", 400), ("GET", "/v1/nothing", 404),
    ("GET", "/v1/devices", 405), ("PUT", "/v1/device/stream", 405), ("DELETE", "/v1/device/preferences", 405),
    ("POST", "/v1/devices", 400), ("POST", "/v1/device/acknowledgements", 400),
  ]

  @Test func `every route answers, and a refusal is problem details`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for (method, path, status) in DeviceAPITests.requests {
        let answer = try await client.request(method, path, [device.authorization])
        #expect(answer.status == status, "\(method) \(path)")
        guard status >= 400 else { continue }
        let problem = try JSONDecoder().decode(ProblemRecord.self, from: Data(answer.body))
        #expect(problem.status == status)
        #expect(!problem.detail.isEmpty)
      }
    }
  }

  @Test(arguments: [
    ("", #"{"badge":"off"}"#, #"/badge must be true or false, not "off""#),
    (
      "", #"{"volume":1}"#,
      "/volume is unknown: expected one of notifications, badge, sound, alert, quiet, summary, focus"
    ),
    ("", "{", "the body is not JSON"),
    ("", #"{"quiet":["1:00-2:00 Mars/Olympus"]}"#, "unknown time zone Mars/Olympus: write a name such as"),
    ("/apps/" + String(repeating: "a", count: 256), #"{"badge":false}"#, "invalid app aaaa"),
    ("", #"{"apps":{"a b":{"badge":false}}}"#, "invalid app a b: expected a topic of "),
    ("/apps/a.b/categories/" + String(repeating: "c", count: 256), #"{"badge":false}"#, "invalid category cccc"),
    ("/apps/a.b", #"{"delivery":"never"}"#, #"/delivery must be "now" or "summary", not "never""#),
    ("/apps/a.b/categories/c", #"{"notifications":false}"#, "/notifications is unknown: expected one of badge, "),
  ])
  func `choices of a wrong form are refused and change nothing`(
    _ path: String, _ body: String, _ words: String
  ) async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let answer = try await client.request(
        "PUT", "/v1/device/preferences" + path, [device.authorization], body: Array(body.utf8))
      #expect(answer.status == 400)
      let problem = try JSONDecoder().decode(ProblemRecord.self, from: Data(answer.body))
      #expect(problem.detail.hasPrefix(words), "\(problem.detail)")
      #expect(gateway.registrations.preferences(of: device.id) == Preferences())
    }
  }

  @Test func `all choices can be written and read again`() async throws {
    let text = """
      {"alert":true,"apps":{"a.b":{"advertising":true,"alert":true,"alert_budget":3,"badge":false,\
      "categories":{"c":{"sound":false}},"critical":true,"delivery":"summary","notifications":true,\
      "provisional":true,"sound":true,"time_sensitive":true}},"badge":true,"focus":{"work":["a.b"]},\
      "notifications":true,"quiet":["22:00-07:00 mon,tue Europe/Berlin"],"sound":true,"summary":"09:00 Asia/Shanghai"}
      """
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let path = "/v1/device/preferences"
      #expect(
        try await client.request("PUT", path, [device.authorization], body: Array(text.utf8)).status == 200)
      let answer = try await client.request("GET", path, [device.authorization])
      #expect(String(decoding: answer.body, as: UTF8.self) == text)
    }
  }

  @Test func `health says what fails, to everybody`() async throws {
    try await TestGateway.run { gateway in
      let answer = try await gateway.client().request("GET", "/v1/health")
      #expect(answer.status == 200)
      #expect(
        try JSONDecoder().decode(Health.self, from: Data(answer.body))
          == Health(durability: .localDisk(.full), problems: []))
    }
    let full = RefusingMailbox()
    try await TestGateway.run(mailbox: full) { gateway in
      let answer = try await gateway.client().request("GET", "/v1/health")
      #expect(answer.status == 503)
      let health = try JSONDecoder().decode(Health.self, from: Data(answer.body))
      #expect(health.status == "degraded")
      #expect(health.problems == [full.problem])
    }
  }

  @Test func `everything but enrollment needs the secret`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      for (method, path, status) in DeviceAPITests.requests where status == 200 {
        for field in [[], [(.authorization, "bearer wrong")]] as [[(HeaderName, String)]] {
          #expect(try await client.request(method, path, field).status == 401, "\(method) \(path)")
        }
      }
    }
  }

  @Test(arguments: [
    (#"{"name":"phone"}"#, 201), (#"{"name":"phone","person":"ada"}"#, 201), (#"{"name":"laptop"}"#, 409),
    (#"{"name":""}"#, 400), (#"{"name":"a b"}"#, 400), (#"{"name":"a/b"}"#, 400), (#"{}"#, 400),
  ])
  func `a device enrolls under a free and simple name`(_ body: String, _ status: Int) async throws {
    try await TestGateway.run { gateway in
      _ = try await gateway.enroll("laptop")
      let client = try await gateway.client()
      #expect(try await client.request("POST", "/v1/devices", body: Array(body.utf8)).status == status)
    }
  }

  @Test func `preferences are changed as a whole, for an app and for a category`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let path = "/v1/device/preferences"
      for (place, body) in [
        ("", #"{"badge":false}"#), ("/apps/com.example.news", #"{"sound":false}"#),
        ("/apps/com.example.news/categories/SPORT", #"{"alert":false}"#),
      ] {
        let answer = try await client.request("PUT", path + place, [device.authorization], body: Array(body.utf8))
        #expect(answer.status == 200)
      }
      let all = try object(try await client.request("GET", path, [device.authorization]))
      #expect(all["badge"] as? Bool == false)
      let app = try #require((all["apps"] as? [String: [String: Any]])?["com.example.news"])
      #expect(app["sound"] as? Bool == false)
      #expect(((app["categories"] as? [String: [String: Any]])?["SPORT"])?["alert"] as? Bool == false)
      let wrong = try await client.request("PUT", path, [device.authorization], body: Array(#"{"badge":1}"#.utf8))
      #expect(wrong.status == 400)
    }
  }

  @Test func `a request that is too large is refused`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      for (method, path, size) in [
        ("POST", "/v1/devices", Limits.maximumEnrollmentSize),
        ("PUT", "/v1/device/channels/x", Limits.maximumDeviceBodySize),
        ("PUT", "/v1/device/preferences", Limits.maximumPreferencesBodySize),
        ("PUT", "/admin/v1/apps/x", Limits.maximumControlBodySize),
      ] {
        let taken = try await client.request(method, path, body: [UInt8](repeating: 65, count: size))
        #expect([400, 401, 404, 405].contains(taken.status), "\(path): \(taken.status)")
        let refused = try await client.request(method, path, body: [UInt8](repeating: 65, count: size + 1))
        #expect(refused.status == 413, "\(path)")
        #expect(String(decoding: refused.body, as: UTF8.self).contains("\(size) bytes"))
      }
    }
  }
}
