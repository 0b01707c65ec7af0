import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushGateway

@Suite struct RouterTests {
  static let router = Router([
    .init("GET", "/v1/things") { _ in Response(status: 201) },
    .init("PUT", "/v1/things/{thing}") { _ in Response(status: 202) },
    .init("DELETE", "/v1/things/{thing}") { _ in Response(status: 203) },
    .init("GET", "/v1/things/{thing}/parts/{part}") { _ in Response(status: 204) },
    .init("GET", "/v1/pictures/{picture}.svg") { _ in Response(status: 205) },
    .init("GET", "/v1/pictures/{picture}") { _ in Response(status: 206) },
  ])

  /// Returns the status of a match with its parameters, or with the other methods of the path.
  func find(_ method: String, _ path: String) async throws -> (status: Int, words: [String]) {
    switch RouterTests.router.match(method: method, path: path) {
    case .found(let route, let parameters):
      return (try await route.serve(ControlRequest(Message(), from: .loopback)).status, parameters)
    case .otherMethods(let methods): return (405, methods)
    case .unknown: return (404, [])
    }
  }

  @Test(arguments: [
    ("GET", "/v1/things", 201, []), ("PUT", "/v1/things/a", 202, ["a"]), ("DELETE", "/v1/things/a", 203, ["a"]),
    ("GET", "/v1/things/a/parts/b", 204, ["a", "b"]), ("GET", "/v1/things/a%2Fb/parts/%C3%A9", 204, ["a/b", "é"]),
    ("GET", "/v1/things/", 201, []), ("POST", "/v1/things", 405, ["GET"]),
    ("GET", "/v1/things/a", 405, ["PUT", "DELETE"]), ("get", "/v1/things", 405, ["GET"]),
    ("GET", "/v1", 404, []), ("GET", "/v1/thing", 404, []), ("GET", "/V1/things", 404, []), ("GET", "", 404, []),
    ("GET", "/v1/things/a/parts", 404, []), ("GET", "/v1/things/a/parts/b/c", 404, []),
    ("GET", "/v1/pictures/a.svg", 205, ["a"]), ("GET", "/v1/pictures/a", 206, ["a"]),
    ("GET", "/v1/pictures/.svg", 205, [""]), ("GET", "/v1/pictures/svg", 206, ["svg"]),
  ])
  func `a request finds its route`(_ method: String, _ path: String, _ status: Int, _ words: [String]) async throws {
    let found = try await find(method, path)
    #expect(found.status == status)
    #expect(found.words == words)
  }

  @Test(arguments: [
    ("/v1/log", "/v1/log", [:]), ("/v1/log?since=5", "/v1/log", ["since": "5"]),
    ("/v1/log?a=1&b=%20x&c", "/v1/log", ["a": "1", "b": " x", "c": ""]), ("/v1/log?", "/v1/log", [:]),
    ("/v1/log?a=b=c", "/v1/log", ["a": "b=c"]), ("/v1/log?a=1&a=2", "/v1/log", ["a": "2"]),
    ("/v1/log?a=%4", "/v1/log", ["a": "%4"]), ("/v1/log?a=%zz", "/v1/log", ["a": "%zz"]), ("?a=1", "", ["a": "1"]),
  ])
  func `a target is a path and a query`(_ target: String, _ path: String, _ query: [String: String]) {
    let request = ControlRequest(SampleRequest().with(.path, target).message, from: .remote)
    #expect(request.path == path)
    #expect(request.query == query)
  }

  @Test(arguments: [
    ("bearer abc", "abc"), ("Bearer abc", "abc"), ("BEARER abc", "abc"), ("bearer ", ""), ("basic abc", nil),
    ("bearer", nil), ("", nil),
  ])
  func `the scheme of a bearer's secret is read in any case`(_ value: String, _ secret: String?) {
    let request = ControlRequest(SampleRequest().with(.authorization, value).message, from: .remote)
    #expect(request.bearer == secret)
  }

  @Test func `a message without anything is still a request`() {
    let request = ControlRequest(Message(), from: .loopback)
    #expect(request.method == "")
    #expect(request.path == "/")
    #expect(request.bearer == nil)
    #expect(request.body.isEmpty)
  }
}
