import HTTP2Transport
import PushCore

/// Requests of administrators: their credentials, and the limits of their connections.
extension GatewayHandler {
  /// Returns the maximum body size of an administrative request, in bytes; 0 unless it is from an administrator.
  func maximumAdminBodySize(_ exchange: Exchange) -> Int {
    let session = try? sessionAdministrator(of: exchange)
    guard let administrator = session ?? administrator(of: exchange),
      Role.administrators.contains(administrator.role)
    else { return 0 }
    note(administrator, on: exchange.connection)
    return Limits.maximumControlBodySize
  }

  /// Applies the limits of authenticated connections after an administrator presented a credential.
  private func note(_ administrator: Administrator, on connection: Connection) {
    switch administrator.credential {
    case .socket where connection.peer == .adminSocket: break
    // A session of the console with the credential of the admin socket.
    case .socket, .token, .testPage: connection.authenticated(as: .admin)
    case .device: connection.authenticated(as: .device)
    }
  }

  /// Returns the administrator who sent a request, without a session; nil for any other client.
  func administrator(of exchange: Exchange) -> Administrator? {
    let (connection, request) = (exchange.connection, exchange.request)
    if connection.peer == .adminSocket {
      return Administrator(role: .admin, credential: .socket(user: connection.user))
    }
    guard gate.isOpen, !connection.servesChannelsOnly, !request.hasDuplicateFields else { return nil }
    return gate.administrator(bearer: ControlRequest(request, from: connection.peer).bearer)
  }

  /// Returns the administrator whose session of the console a request has; nil if it has none.
  ///
  /// - Throws: 403 if another page sent the request, 401 if the session has ended.
  private func sessionAdministrator(of exchange: Exchange) throws(Problem) -> Administrator? {
    let (connection, request) = (exchange.connection, exchange.request)
    guard let web, web.setting.serves(connection.peer), connection.peer != .adminSocket, !request.hasDuplicateFields
    else { return nil }
    return try web.console.administrator(of: ControlRequest(request, from: connection.peer))
  }

  /// Serves an administrative request of a client that does not use the admin socket.
  func serveRemoteRequest(_ exchange: Exchange) {
    let connection = exchange.connection
    let session: Administrator?
    do {
      session = try sessionAdministrator(of: exchange)
    } catch {
      return exchange.respond(error.response)
    }
    guard session != nil || gate.isOpen else { return exchange.respond(AdminAuthorizer.closed.response) }
    guard !exchange.request.hasDuplicateFields else { return exchange.respond(AdminAuthorizer.ambiguous.response) }
    guard let administrator = session ?? administrator(of: exchange) else {
      return exchange.respond(gate.refusal(of: connection.source).response)
    }
    connection.allowAllStreams()
    note(administrator, on: connection)
    serve(exchange, adminRouter, for: administrator)
  }
}
