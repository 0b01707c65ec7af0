import NIOCore
import NIOHTTP1
import PushTesting

@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

/// Messages of senders over HTTP/1.1, from the head of a request to the response, without a socket.
struct HTTP1Messages {
  private let routes: HTTP1Routes
  private let relay: MessageRelay

  init(_ gateway: TestGateway) async throws {
    let relay = MessageRelay(
      environment: .development, senders: gateway.parts.messages.senders, clock: gateway.clock.wallClock)
    self.relay = relay
    let group: any EventLoopGroup = gateway.loops.group
    let loop = group.next()
    try await loop.submit { [loops = gateway.loops] in
      guard let handler = loops.current(loop).1 as? GatewayHandler else { return }
      handler.attach(relay)
    }.get()
    routes = HTTP1Routes(
      health: HealthAPI(check: gateway.parts.healthCheck), meters: gateway.meters, token: nil, logger: .silent,
      messages: relay)
  }

  func answer(_ method: HTTPMethod, _ uri: String, _ fields: [(String, String)], _ body: [UInt8]) async -> Response {
    let head = HTTPRequestHead(
      version: .http1_1, method: method, uri: uri,
      headers: HTTPHeaders([("host", "localhost"), ("content-length", "\(body.count)")] + fields))
    let request = HTTP1Request(
      head, isLoopback: true, servesMessages: true, messageSize: { relay.maximumBodySize(of: $0, $1) })
    switch request {
    case .refused(let problem): return problem.response
    case .served(var request, _):
      request.body = body
      return await routes.answer(request).response
    }
  }
}
