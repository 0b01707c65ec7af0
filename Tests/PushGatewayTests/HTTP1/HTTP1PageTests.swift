import NIOHTTP1
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

/// The device in a browser over HTTP/1.1.
@Suite(.timeLimit(.minutes(5))) struct HTTP1PageTests {
  static func page(_ gateway: TestGateway) -> HTTP1Page {
    HTTP1Page(
      web: TestGateway.web(gateway.parts, gateway.admin, .loopback), environment: .development,
      socket: gateway.folder.file("socket"), admin: gateway.admin.router.routes)
  }

  static func routes(_ gateway: TestGateway) -> HTTP1Routes {
    HTTP1Routes(
      health: HealthAPI(check: gateway.parts.healthCheck), meters: gateway.meters, token: nil, logger: .silent,
      page: page(gateway))
  }

  /// Returns a request as the page on this machine sends it.
  static func request(_ method: String, _ path: String, _ device: TestDevice?) -> ControlRequest {
    var request = ControlRequest(method: method, target: path, authorization: nil, from: .loopback)
    request.browser.host = "localhost:2198"
    request.browser.origin = "http://localhost:2198"
    request.browser.site = "same-origin"
    if let device { request.browser.cookie = "pushgateway-01234567=\(device.secret)" }
    return request
  }

  @Test(
    arguments: [
      ("/phone/session", nil), ("/console/session", nil), ("/admin/v1/groups", nil),
      ("/v1/device/reports", nil), ("/v1/device", nil), ("/metrics", 403),
      ("/v1/devices", 403),
      ("/phonebook", 403),
    ] as [(String, Int?)])
  func `only requests of the page have an origin and a body`(_ path: String, _ status: Int?) {
    let fields = HTTPHeaders([("host", "localhost"), ("origin", "http://localhost")])
    var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: path, headers: fields)
    func refusal(servesPage: Bool) -> Int? {
      let request = HTTP1Request(head, isLoopback: true, servesPage: servesPage)
      return if case .refused(let problem) = request { problem.status } else { nil }
    }
    #expect(refusal(servesPage: true) == status)
    #expect(refusal(servesPage: false) == 403)
    head.headers = HTTPHeaders([("host", "localhost"), ("content-length", "5")])
    #expect(refusal(servesPage: true) == (status == nil ? nil : 413))
    head.headers = HTTPHeaders([("host", "localhost"), ("content-length", "\(Limits.maximumPreferencesBodySize + 1)")])
    #expect(refusal(servesPage: true) == 413)
  }

  @Test func `the session opens the routes of devices, on this machine alone`() async throws {
    try await TestGateway.run { gateway in
      let routes = HTTP1PageTests.routes(gateway)
      let device = try await gateway.enroll()
      let own = HTTP1PageTests.request("GET", "/v1/device", device)
      #expect(await routes.answer(own).response.status == 200)
      var remote = own
      remote.peer = .remote
      #expect(await routes.answer(remote).response.status == 403)
      var foreign = own
      foreign.browser.site = "same-site"
      #expect(await routes.answer(foreign).response.status == 403)
      #expect(await routes.answer(HTTP1PageTests.request("GET", "/v1/device", nil)).response.status == 401)
      #expect(await routes.answer(HTTP1PageTests.request("POST", "/v1/devices", nil)).response.status == 404)
      #expect(await routes.answer(HTTP1PageTests.request("GET", "/phone", nil)).response.status == 200)
    }
  }

  @Test func `pages have half of the connections for their streams`() {
    let streams = HTTP1Streams()
    var slots = (0..<Limits.maximumHTTP1Streams).map { _ in streams.begin() }
    #expect(slots.allSatisfy { $0 != nil })
    #expect(streams.begin() == nil)
    slots.removeLast()
    #expect(streams.begin() != nil)
    #expect(2 * Limits.maximumHTTP1Streams == Limits.maximumHTTP1Connections)
  }

  @Test func `the stream has the lines of the device`() async throws {
    try await TestGateway.run { gateway in
      let routes = HTTP1PageTests.routes(gateway)
      let device = try await gateway.enroll()
      let answer = await routes.answer(
        HTTP1PageTests.request("GET", "/v1/device/stream?silent=true&focus=deep%20work", device))
      #expect(answer.response.status == 200)
      let stream = try #require(answer.stream)
      var text = ""
      for try await chunk in stream.lines.lines {
        text += String(decoding: chunk, as: UTF8.self)
        stream.lines.taken(chunk.count)
        if text.contains("caught-up") { break }
      }
      #expect(text.hasPrefix(#"data: {"type":"welcome""#))
      stream.close()
      let unknown = await routes.answer(HTTP1PageTests.request("GET", "/v1/device/stream", nil))
      #expect(unknown.response.status == 401 && unknown.stream == nil)
    }
  }
}
