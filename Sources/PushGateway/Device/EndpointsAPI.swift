import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The routes `/v1/device/endpoints…`: the Web Push endpoints of a device. Their keys stay on the device.
struct EndpointsAPI: Sendable {
  let api: DeviceAPI

  var routes: [Router.Route] {
    [
      api.route("GET", "/v1/device/endpoints") { device, _ in
        Response(api.endpoints.list(of: device.id).map(record))
      },
      api.route("POST", "/v1/device/endpoints", addEndpoint),
      api.route("DELETE", "/v1/device/endpoints/{name}") { device, request in
        try api.countChange(of: device)
        return try await audited(device, request, body: []) {
          try await api.endpoints.remove(request.parameters[0], of: device.id, at: api.clock.milliseconds())
          return .noContent
        }
      },
    ]
  }

  private func addEndpoint(_ device: Device, _ request: ControlRequest) async throws -> Response {
    let body: EndpointRequest = try request.decoded()
    try api.countChange(of: device)
    let app = try api.registrations.app(topic: body.app)
    guard api.registrations.registrations(of: device.id).contains(where: { $0.0.app == app.id }) else {
      throw RegistrationRefusal(
        kind: .conflict,
        description: "\(device.name) is not registered for \(app.topic): `pushcli devices register \(device.name) "
          + "\(app.topic)`")
    }
    guard let origin = WebPushOrigin.read(body.origin) else {
      throw Problem.badRequest(
        "invalid origin \"\(body.origin.prefix(64))\": expected https://HOST:PORT, as senders reach the gateway")
    }
    let vapid = try vapidKey(body.vapid)
    // 128 random bits, which a sender has to have.
    let id = Base64URL.encode(randomBytes(count: 16))
    return try await audited(device, request, body: controlJSON(body)) {
      try await api.endpoints.add(
        WebPushEndpoint(
          name: body.name, device: device.id, app: app.id, origin: origin, vapid: vapid,
          created: api.clock.milliseconds()), id: id)
      return Response(
        CreatedEndpoint(name: body.name, id: id, url: "\(origin)\(Paths.webPush)\(id)"), status: 201)
    }
  }

  /// Records a change in the audit trail before it is carried out: an endpoint lets others send to the device.
  private func audited(
    _ device: Device, _ request: ControlRequest, body: [UInt8], _ change: () async throws -> Response
  ) async throws -> Response {
    let who = Administrator(role: device.role, credential: .device(device.name)).shown
    let number = try await api.audit.record(
      request.method, request.path, body: body, by: who, at: api.clock.milliseconds())
    let response: Response
    do {
      response = try await change()
    } catch {
      await api.audit.note(status: (Problem(error) ?? .failure).status, of: number)
      throw error
    }
    await api.audit.note(status: response.status, of: number)
    return response
  }

  /// Reads the public key of a sender.
  private func vapidKey(_ text: String?) throws(Problem) -> [UInt8]? {
    guard let text else { return nil }
    guard let point = Base64URL.decode(text.utf8), (try? ES256Key(publicPoint: point)) != nil else {
      throw .badRequest("invalid vapid key: expected the public key of the sender, 87 characters of base64url")
    }
    return point
  }

  private func record(_ endpoint: WebPushEndpoint) -> EndpointRecord {
    EndpointRecord(
      name: endpoint.name, app: api.registrations.app(endpoint.app)?.topic ?? "", origin: endpoint.origin,
      vapid: endpoint.vapid.map { Base64URL.encode($0) }, created: Timestamp.text(endpoint.created))
  }
}
