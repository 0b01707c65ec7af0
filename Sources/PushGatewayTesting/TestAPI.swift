import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The requests to the test API of a gateway, over HTTP/1.1.
///
/// Its answers are decoded with Foundation's decoder, which ends the process on some documents of a hostile peer. The peer is a
/// gateway that the tests started, so this is acceptable.
struct TestAPI: Sendable {
  /// A route of the test API. A test compares the routes with the OpenAPI document.
  enum Route: CaseIterable {
    case addDevice, removeDevice, answer, setToken, setFaults, expect, pushes, clock, setClock, report

    var method: String {
      switch self {
      case .addDevice, .answer, .expect, .setClock: "POST"
      case .removeDevice: "DELETE"
      case .setToken, .setFaults: "PUT"
      case .pushes, .clock, .report: "GET"
      }
    }

    /// The path, with `{token}` for a token.
    var path: String {
      switch self {
      case .addDevice: "/test/v1/devices"
      case .removeDevice: "/test/v1/devices/{token}"
      case .answer: "/test/v1/devices/{token}/answer"
      case .setToken: "/test/v1/tokens/{token}"
      case .setFaults: "/test/v1/tokens/{token}/faults"
      case .expect: "/test/v1/expect"
      case .pushes: "/test/v1/pushes"
      case .clock, .setClock: "/test/v1/clock"
      case .report: "/test/v1/report"
      }
    }
  }

  /// An answer with status 200, 201, 204 or 417.
  struct Answer {
    let status: Int
    let body: Data

    func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
      do {
        return try JSONDecoder().decode(type, from: body)
      } catch {
        throw PushGatewayError("the answer of the test API can't be read: use a pushcli of the same version (\(error))")
      }
    }
  }

  /// A refusal of the test API.
  private struct Problem: Decodable {
    let detail: String
    let field: String?
  }

  /// The URL of the test API, without a path.
  let url: String
  /// The process of the gateway, which ends when no device, clock or server refers to it; nil if `pushcli test-run` started it.
  let process: GatewayProcess?

  /// The connections to all gateways of the process: an expectation occupies one until it ends.
  private static let session: URLSession = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = 200
    return URLSession(configuration: configuration)
  }()

  /// The time limit of a request in seconds: half a minute more than the longest expectation.
  private static let timeLimit = 90.0

  /// Makes a request.
  ///
  /// - Throws: ``PushGatewayError`` if the gateway can't be reached, or refuses the request.
  func call(
    _ route: Route, token: String = "", query: [(name: String, value: String)] = [], body: JSONValue? = nil
  ) async throws -> Answer {
    let pairs = query.map { "\($0.name)=\(TestAPI.escaped($0.value))" }.joined(separator: "&")
    let path = route.path.replacingOccurrences(of: "{token}", with: TestAPI.escaped(token))
    guard let address = URL(string: url + path + (pairs.isEmpty ? "" : "?" + pairs)) else {
      throw PushGatewayError("\(url) is not the URL of a test API: expected http://HOST:PORT")
    }
    var request = URLRequest(url: address)
    request.httpMethod = route.method
    request.timeoutInterval = TestAPI.timeLimit
    if let body { request.httpBody = Data(body.description.utf8) }
    let (status, data) = try await load(request)
    guard [200, 201, 204, 417].contains(status) else {
      let problem = try? JSONDecoder().decode(Problem.self, from: data)
      let field = problem?.field.map { "\($0): " } ?? ""
      let detail = field + (problem?.detail ?? "the answer has no reason")
      throw PushGatewayError("\(route.method) \(path) was answered \(status): \(detail)")
    }
    return Answer(status: status, body: data)
  }

  private func load(_ request: URLRequest) async throws -> (Int, Data) {
    do {
      let (data, response) = try await TestAPI.session.data(for: request, delegate: nil)
      return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
    } catch {
      throw PushGatewayError(
        "the test API can't be reached at \(url): \(error.localizedDescription). Check that the gateway runs, and that "
          + "no_proxy contains its host if there is a proxy")
    }
  }

  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}

extension Duration {
  /// The duration as the test API reads it.
  var text: String {
    let (seconds, attoseconds) = components
    guard seconds.magnitude < 1_000_000_000 else { return "\(seconds)s" }
    return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms"
  }
}
