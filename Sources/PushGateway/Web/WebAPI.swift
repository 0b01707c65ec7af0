import GatewayProtocol
import HTTP2Transport
import PushStorage

/// The routes of the device in a browser: its files, and the session of a page. The routes of the console are added.
struct WebAPI: Sendable {
  let setting: WebSetting
  let session: WebSession
  let devices: DeviceAPI
  let console: ConsoleAPI

  /// The path of invitations that are passed on as a link or a QR code. The code is after `#`, so that a browser sends
  /// it only with the enrollment.
  private static let joinPath: StaticString = "/join"
  private static let sessionPath = "/phone/session"

  static func isFor(_ request: Message) -> Bool {
    request.has(.path, beginningWith: "/phone") || request.has(.path, joinPath) || ConsoleAPI.isFor(request)
  }

  /// Returns true if the path of a request over HTTP/1.1 belongs to a page, or to an API that it uses.
  static func isFor(path: Substring) -> Bool {
    path == "/phone" || path.hasPrefix("/phone/") || path == "/join" || path == "/v1/device"
      || path.hasPrefix("/v1/device/") || ConsoleAPI.isFor(path: path)
  }

  var router: Router {
    let phone: [Router.Route] = [
      .init("GET", "/phone", page),
      .init("GET", "/join", page),
      .init("POST", WebAPI.sessionPath, begin),
      .init("DELETE", WebAPI.sessionPath, end),
      .init("GET", "/phone/{file}") { try WebFiles.file("phone/" + $0.parameters[0], $0) },
    ]
    return Router(phone + console.routes)
  }

  /// Returns the page, and renews the cookie of its session: browsers delete a cookie after 400 days.
  private func page(_ request: ControlRequest) throws(Problem) -> Response {
    var response = try WebFiles.file("phone/index.html", request)
    if let secret = session.secret(request.browser), devices.registrations.device(secret: secret) != nil {
      response.fields.append(("set-cookie", session.cookie(secret, request.browser)))
    }
    return response
  }

  /// Enrolls the browser as a device, with the invitation of a link, and begins its session. Only the cookie contains the
  /// secret: scripts of the page can't read it.
  private func begin(_ request: ControlRequest) async throws -> Response {
    try session.check(request.method, request.browser)
    var enrollment = request
    // The HTTP/1.1 server is on this machine. A page never has the permissions of the admin socket.
    if enrollment.peer == .adminSocket { enrollment.peer = .loopback }
    enrollment.administrator = nil
    var enrolled = try await devices.enrolled(enrollment)
    let fields = session.fields(enrolled.secret, request.browser)
    enrolled.secret = ""
    var response = Response(enrolled, status: 201)
    response.fields = fields
    return response
  }

  /// Ends the session of this browser and each copy of it, with the secret. The device stays enrolled.
  private func end(_ request: ControlRequest) async throws -> Response {
    try session.check(request.method, request.browser)
    if let secret = session.secret(request.browser), let device = devices.registrations.device(secret: secret) {
      _ = try await devices.registrations.rotateSecret(of: device.id)
    }
    return Response(status: 204, fields: session.fields(nil, request.browser))
  }
}
