import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The routes `/v1/device/subscription`: the subscription of a browser at its push service.
struct SubscriptionAPI: Sendable {
  let api: DeviceAPI

  private var pages: ClosedPages { api.pages }

  var routes: [Router.Route] {
    [
      api.route("GET", "/v1/device/subscription") { device, _ in
        try checkServices()
        let key = Base64URL.encode(try await pages.parts.subscriptions.key().publicPoint)
        let known = pages.parts.subscriptions.find(device.id)
        return Response(SubscriptionRecord(key: key, endpoint: known?.endpoint, refused: known?.refused))
      },
      api.route("PUT", "/v1/device/subscription", subscribe),
      api.route("DELETE", "/v1/device/subscription") { device, _ in
        try await pages.parts.subscriptions.remove(device.id)
        return .noContent
      },
    ]
  }

  private func checkServices() throws(Problem) {
    guard pages.parts.services != .off else {
      throw Problem(403, "Forbidden", "this gateway reaches no closed pages: its setting push_services is off")
    }
  }

  private func subscribe(_ device: Device, _ request: ControlRequest) async throws -> Response {
    try checkServices()
    let body: SubscriptionRequest = try request.decoded()
    try api.countChange(of: device)
    guard body.endpoint.utf8.count <= Limits.maximumSubscriptionEndpoint, let url = try? EventURL(body.endpoint),
      pages.parts.services == .all || url.isSecure
    else {
      throw Problem.badRequest("invalid endpoint: expected the https address that the browser's PushManager gives")
    }
    // A name is checked when the gateway connects.
    if pages.parts.services == .public, let address = IPAddress(url.host), !address.isPublic {
      throw Problem.badRequest("invalid endpoint: its address is not public, and the setting push_services is public")
    }
    guard let key = Base64URL.decode(body.keys.p256dh.utf8), (try? ES256Key(publicPoint: key)) != nil else {
      throw Problem.badRequest("invalid keys.p256dh: expected a point of P-256, 87 characters of base64url")
    }
    guard let secret = Base64URL.decode(body.keys.auth.utf8), secret.count == WebPushEncryption.secretSize else {
      throw Problem.badRequest("invalid keys.auth: expected 16 bytes, 22 characters of base64url")
    }
    guard body.focus?.utf8.count ?? 0 <= Limits.maximumSubscriptionFocus else {
      throw Problem.badRequest("invalid focus: expected at most \(Limits.maximumSubscriptionFocus) bytes")
    }
    var state = Policy.DeviceState()
    (state.isSilent, state.focus) = (body.silent ?? false, body.focus)
    let page = request.browser.origin ?? request.browser.authority.map { "https://\($0)" }
    try await pages.parts.subscriptions.put(
      PushSubscription(
        device: device.id, endpoint: body.endpoint, key: key, secret: secret,
        origin: page.flatMap(WebPushOrigin.read) ?? "http://localhost", allowsQuiet: body.quiet ?? false, state: state,
        created: api.clock.milliseconds()))
    return .noContent
  }
}
