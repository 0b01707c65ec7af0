import Foundation
import GatewayClient
import GatewayProtocol
import HTTP2Transport
import PushCore
import Synchronization

/// The pages over HTTP/1.1, for browsers on this machine: the device in a browser with the API of devices, and the console with
/// the API of administrators. The API of administrators takes only sessions of the console.
struct HTTP1Page: Sendable {
  let web: WebAPI
  /// The environment of the page's registrations.
  let environment: Environment
  /// The path of the admin socket, over which the streams of devices are read from the event loops.
  let socket: String
  /// The routes of administrators.
  let admin: [Router.Route]
  private let streams = HTTP1Streams()

  /// The routes, all limited to this machine: HTTP/1.1 has no TLS.
  var routes: [Router.Route] {
    let devices = web.devices.router.routes.filter { $0.pattern != ["v1", "devices"] }
    let admin = admin.filter { $0.pattern.first == "admin" }
    return (web.router.routes + devices + admin).map { route in
      var route = route
      let serve = route.serve
      route.serve = { try await serve(admitted($0)) }
      return route
    }
  }

  /// Returns a request with the credential of its session.
  ///
  /// - Throws: 403 for another machine, and for another page.
  private func admitted(_ request: ControlRequest) throws(Problem) -> ControlRequest {
    guard request.peer == .loopback else {
      throw Problem(
        403, "Forbidden",
        "the pages are limited to this machine over HTTP/1.1: use https with `web: on`, or `ssh -L`")
    }
    var request = request
    request.environment = environment
    if request.path.hasPrefix("/v1/device") { try request.adopt(web.session) }
    if request.path.hasPrefix("\(AdminAPI.prefix)") {
      // A token is a credential over TLS only.
      request.bearer = nil
      guard let administrator = try web.console.administrator(of: request) else { throw ConsoleAPI.ended }
      request.administrator = administrator
    }
    return request
  }

  // MARK: The stream

  /// Returns true if a request opens a stream of events.
  func isForStream(_ request: ControlRequest) -> Bool {
    request.method == "GET" && request.path == "\(Paths.deviceStream)"
  }

  /// Opens the stream of events of a device, and passes on its bytes.
  func openStream(_ request: ControlRequest) async throws -> HTTP1Response {
    let request = try admitted(request)
    _ = try web.devices.device(request.bearer)
    guard let slot = streams.begin() else {
      throw Problem(
        503, "Service Unavailable",
        "too many open pages over HTTP/1.1: expected at most \(Limits.maximumHTTP1Streams), close some of them")
    }
    let query = request.query.filter { ["silent", "focus"].contains($0.key) }.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
    var fields: [(HeaderName, String)] = [(.authorization, "bearer \(request.bearer ?? "")")]
    if let last = request.browser.lastEvent { fields.append((.lastEventID, last)) }
    let client = try await Client.connect(to: .admin(path: socket))
    do {
      let lines = try await client.stream(
        "GET", "\(Paths.deviceStream)?" + query.sorted().joined(separator: "&"), fields, isGathering: true)
      var answer = HTTP1Response(Response(status: 200, contentType: "text/event-stream"))
      answer.stream = HTTP1Stream(lines: lines, client: client, slot: slot)
      return answer
    } catch {
      client.close()
      throw HTTP1Page.problem(error)
    }
  }

  private static func problem(_ error: any Error) -> any Error {
    guard let error = error as? ClientError else { return error }
    if case .refused(let status) = error.kind { return Problem(status, "Refused", error.description) }
    return Problem(503, "Service Unavailable", error.description)
  }
}

/// A body without an end: the bytes of a device's stream.
struct HTTP1Stream: Sendable {
  let lines: LineStream
  let client: Client
  /// The stream counts as open while this exists.
  let slot: HTTP1Streams.Slot

  func close() { client.close() }
}

/// The number of open streams of pages, which is limited to ``Limits/maximumHTTP1Streams``.
final class HTTP1Streams: Sendable {
  /// The slot of one stream, which is free again after the end of this object.
  final class Slot: Sendable {
    private let streams: HTTP1Streams

    fileprivate init(_ streams: HTTP1Streams) { self.streams = streams }

    deinit { streams.count.withLock { $0 -= 1 } }
  }

  private let count = Mutex(0)

  /// Counts a stream; nil if there are too many.
  func begin() -> Slot? {
    let isWithinLimit = count.withLock { count in
      guard count < Limits.maximumHTTP1Streams else { return false }
      count += 1
      return true
    }
    return isWithinLimit ? Slot(self) : nil
  }
}
