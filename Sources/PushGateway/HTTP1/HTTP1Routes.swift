import HTTP2Transport
import Logging
import NIOHTTP1
import PushCore

/// The routes of HTTP/1.1, served outside of the loops: health, metrics, the pages in a browser, and messages.
struct HTTP1Routes: Sendable {
  /// The maximum size of a request's body in bytes; 0 if no route takes a body.
  let maximumBodySize: Int
  /// The pages in a browser; nil if they are not served.
  let page: HTTP1Page?
  /// Passes messages to an event loop; nil if they are not served.
  let messages: MessageRelay?
  private let router: Router
  private let logger: Logger

  /// - Parameters:
  ///   - token: the secret for metrics from other machines; nil to refuse them.
  ///   - others: further routes; only a test gateway has some.
  init(
    health: HealthAPI, meters: Meters, token: MetricsToken?, logger: Logger, others: [Router.Route] = [],
    maximumBodySize: Int = 0, page: HTTP1Page? = nil, messages: MessageRelay? = nil
  ) {
    self.messages = messages
    self.logger = logger
    self.maximumBodySize = maximumBodySize
    self.page = page
    router = Router(
      health.routes + others + (page?.routes ?? []) + [
        .init("GET", "/metrics") { request in
          if request.peer == .remote { try HTTP1Routes.admit(request, token) }
          return MetricsAPI.response(to: request, meters)
        }
      ])
  }

  private static func admit(_ request: ControlRequest, _ token: MetricsToken?) throws {
    guard let token else {
      throw Problem(
        403, "Forbidden",
        "/metrics is limited to loopback addresses: set `\(MetricsToken.setting)` to a file with a secret for other machines"
      )
    }
    guard let bearer = request.bearer, try token.permits(bearer) else {
      throw Problem(
        401, "Unauthorized",
        "missing or wrong secret: send `authorization: bearer SECRET` with the secret of `\(MetricsToken.setting)`")
    }
  }

  /// Returns the response to a request, including requests without a route.
  func answer(_ request: ControlRequest) async -> HTTP1Response {
    if let messages, let door = MessageDoor(path: request.path) {
      return HTTP1Response(await messages.answer(request, door))
    }
    if let page, page.isForStream(request) {
      return await answer(request) { try await page.openStream($0) }
    }
    switch router.match(method: request.method, path: request.path) {
    case .unknown: return HTTP1Response(Problem.notFound("unknown path \(request.path)").response)
    case .otherMethods(let methods):
      let allowed = methods.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] }
      var answer = HTTP1Response(
        Problem(405, "Method Not Allowed", "expected the method \(allowed.joined(separator: " or "))").response)
      answer.fields.append(("allow", allowed.joined(separator: ", ")))
      return answer
    case .found(let route, let parameters):
      var request = request
      request.parameters = parameters
      return await answer(request) { HTTP1Response(try await route.serve($0)) }
    }
  }

  private func answer(
    _ request: ControlRequest, by serve: (ControlRequest) async throws -> HTTP1Response
  ) async -> HTTP1Response {
    do {
      return try await serve(request)
    } catch {
      if let problem = Problem(error) {
        var answer = HTTP1Response(problem.response)
        if problem.status == 401 { answer.fields.append(("www-authenticate", "Bearer")) }
        return answer
      }
      // The end of a connection cancels its request: the answer is not sent.
      if !Task.isCancelled { logger.log(.requestFailed, "\(request.method) \(request.path) failed: \(error)") }
      return HTTP1Response(Problem.failure.response)
    }
  }
}

/// An HTTP/1.1 response with its additional fields.
struct HTTP1Response: Sendable {
  var response: Response
  /// An endless body after the response's own; nil for most responses.
  var stream: HTTP1Stream?
  var fields: [(name: String, value: String)] = []

  init(_ response: Response) { self.response = response }

  /// Returns the head of the response.
  ///
  /// - Parameter isLast: true if the connection ends with this response.
  func head(isLast: Bool) -> HTTPResponseHead {
    var headers = HTTPHeaders([("content-type", "\(response.contentType)")])
    // Without a length the encoder sends the body in chunks.
    if stream == nil { headers.add(name: "content-length", value: String(response.body.count)) }
    for (name, value) in response.fields { headers.add(name: "\(name)", value: value) }
    for (name, value) in [("cache-control", "no-store"), ("x-content-type-options", "nosniff")]
    where !headers.contains(name: name) {
      headers.add(name: name, value: value)
    }
    for (name, value) in fields { headers.add(name: name, value: value) }
    headers.add(name: "connection", value: isLast ? "close" : "keep-alive")
    return HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
  }
}
