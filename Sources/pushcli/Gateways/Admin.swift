import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import HTTP2Transport
import PushCore

/// A connection to a gateway's own APIs: the admin socket of a gateway on this machine, or TLS with a bearer token to a
/// remote gateway.
struct Admin {
  private let client: Client
  private let endpoint: Client.Endpoint
  /// The value of `authorization`; nil on the admin socket.
  private let authorization: String?
  /// True if a request without an answer is repeated once on another connection.
  private let isRepeating: Bool

  /// Connects as an administrator.
  ///
  /// - Throws: ``CommandFailure`` if no gateway runs there, or if this machine has no credentials for it.
  init(_ options: StateOptions) async throws {
    let context = try options.context
    let detours = try options.detours
    if !detours.isEmpty { try await Admin.check(detours, leadTo: context, options) }
    guard let address = context.address else {
      self = try await Admin(socket: context.folder, options)
      return
    }
    guard let bearer = Admin.bearer(of: context) else {
      throw CommandFailure(
        .notAuthorized,
        "nobody is logged in to \(address) here: `pushcli login \(address)`, with a token that "
          + "`pushcli admin tokens create` makes there")
    }
    try await self.init(to: context, bearer)
  }

  /// Connects as a device.
  init(_ context: GatewayContext, as credentials: Credentials) async throws {
    try await self.init(to: context, credentials.secret)
  }

  private init(to context: GatewayContext, _ bearer: String) async throws {
    guard let address = context.address else { preconditionFailure("a remote gateway has an address") }
    authorization = "Bearer " + bearer
    isRepeating = true
    (client, endpoint) = try await Admin.connect(
      [address] + context.others, trustPath: context.trustPath, remedy: context.remedy)
  }

  /// Connects to another gateway of the cluster if the gateway of this machine does not run: as a device, or without
  /// credentials.
  ///
  /// - Returns: nil if no other gateway is known.
  static func elsewhere(_ options: StateOptions, as credentials: Credentials?) async throws -> Admin? {
    let context = try options.context
    let addresses = try options.detours + context.others
    guard !context.isRemote, !addresses.isEmpty else { return nil }
    let (client, endpoint) = try await connect(addresses, trustPath: context.trustPath, remedy: context.remedy)
    return Admin(client: client, endpoint: endpoint, authorization: credentials.map { "Bearer " + $0.secret })
  }

  private init(client: Client, endpoint: Client.Endpoint, authorization: String?) {
    (self.client, self.endpoint, self.authorization, isRepeating) = (client, endpoint, authorization, true)
  }

  /// Connects to one gateway of a cluster with a credential, for a command that itself repeats its requests.
  ///
  /// - Parameter pingInterval: see ``Client/connect(to:pingInterval:)``.
  init(
    at address: GatewayAddress, of context: GatewayContext, secret: String, pingInterval: Duration
  ) async throws {
    authorization = "Bearer " + secret
    isRepeating = false
    (client, endpoint) = try await Admin.connect(
      [address], trustPath: context.trustPath(at: address), remedy: context.remedy, pingInterval: pingInterval)
  }

  /// Connects to the first of the addresses that answers.
  private static func connect(
    _ addresses: [GatewayAddress], trustPath: String, remedy: String? = nil, pingInterval: Duration? = nil
  ) async throws -> (Client, Client.Endpoint) {
    var failure: ClientError?
    for address in addresses {
      let endpoint = Client.Endpoint.tls(host: address.host, port: address.port, trustPath: trustPath, remedy: remedy)
      do {
        return (try await Client.connect(to: endpoint, pingInterval: pingInterval), endpoint)
      } catch let error as ClientError where !error.isPermanent {
        failure = failure ?? error
      }
    }
    throw failure ?? ClientError(.unreachable, "no gateway is named")
  }

  /// - Parameter pingInterval: given by a command that itself repeats its requests.
  init(socket folder: StateFolder, _ options: StateOptions, pingInterval: Duration? = nil) async throws {
    endpoint = .admin(path: folder.adminSocket)
    authorization = nil
    isRepeating = pingInterval == nil
    do {
      client = try await Client.connect(to: endpoint, pingInterval: pingInterval)
    } catch is ClientError {
      try options.local.checkPermission(of: folder.adminSocket, mode: R_OK | W_OK)
      throw CommandFailure(
        .unreachable,
        "no gateway runs on \(folder.path): start one with `pushcli serve --state \(folder.path)`"
          + folder.serviceHint + GatewayContext.elsewhere)
    }
  }

  /// Returns true if this machine can connect to the gateway as an administrator.
  static func isPossible(at context: GatewayContext) -> Bool { !context.isRemote || bearer(of: context) != nil }

  /// Returns the administrator's token for a remote gateway: that of the login, else the secret of a device with the
  /// role admin, operator or reader.
  static func bearer(of context: GatewayContext) -> String? {
    if let token = context.folder.loginToken { return token }
    let devices = Credentials.names(in: context.folder).compactMap { try? Credentials.read($0, in: context.folder) }
    for role in [Role.admin, .operator, .reader] {
      if let device = devices.first(where: { $0.role == role.rawValue }) { return device.secret }
    }
    return nil
  }

  /// Verifies that addresses without a context belong to the folder's own gateway, whose socket is used, or to its
  /// cluster. Only the folder's CA is trusted for that, and one answer is enough.
  private static func check(
    _ detours: [GatewayAddress], leadTo context: GatewayContext, _ options: StateOptions
  ) async throws {
    let own = context.folder.listening
    if detours.contains(where: { own.contains($0) || own.map(\.reachable).contains($0) }) { return }
    let named = detours.map(\.description).joined(separator: ",")
    if FileManager.default.fileExists(atPath: context.folder.trustPath) {
      do {
        try await connect(detours, trustPath: context.folder.trustPath).0.close()
        return
      } catch let error as ClientError {
        var failure = CommandFailure(error)
        if error.isPermanent { failure.message += "; if this is another gateway, use `pushcli login \(named)`" }
        throw failure
      }
    }
    throw CommandFailure(
      .notAuthorized,
      "nobody is logged in to \(named) here: `pushcli login \(named)`, or `pushcli join CODE@\(named)` by an invitation"
    )
  }

  /// The advice for credentials that the gateway no longer accepts; nil on the admin socket.
  private var wayBack: String? {
    guard case .tls = endpoint else { return nil }
    return
      "\(endpoint) rejects the credentials of this machine: its device or token was removed, or has a new secret; "
      + "`pushcli join CODE@\(endpoint)` makes it a device again, and `pushcli login \(endpoint)` an administrator, with a "
      + "token that `pushcli admin tokens create` makes there"
  }

  /// Gets a resource.
  ///
  /// - Parameter secret: the secret of the device that makes the request; nil: the credentials of the connection.
  func get<Value: Decodable>(_ path: String, secret: String? = nil) async throws -> Value {
    try decodeJSON(Value.self, from: try await answer("GET", path, secret: secret).body)
  }

  func post<Value: Decodable>(_ path: String, _ body: some Encodable, secret: String? = nil) async throws -> Value {
    let body = Array(try JSONEncoder().encode(body))
    return try decodeJSON(Value.self, from: try await answer("POST", path, body: body, secret: secret).body)
  }

  /// Posts a request whose answer has no value.
  func post(_ path: String) async throws { _ = try await answer("POST", path) }

  /// Puts the resource of the path, without a body.
  func put(_ path: String) async throws { _ = try await answer("PUT", path) }

  func delete(_ path: String, secret: String? = nil) async throws {
    _ = try await answer("DELETE", path, secret: secret)
  }

  func bytes(_ path: String, secret: String? = nil) async throws -> [UInt8] {
    try await answer("GET", path, secret: secret).body
  }

  /// - Parameter accept: the requested media type.
  func text(_ path: String, accept: String) async throws -> String {
    String(decoding: try await answer("GET", path, accept: accept).body, as: UTF8.self)
  }

  /// Closes the connection; requests without an answer fail.
  func close() { client.close() }

  /// Registers a device or a group for an app.
  ///
  /// - Parameters:
  ///   - path: the path of its registrations.
  ///   - address: `HOST:PORT` as given to the command; nil if none was given.
  func register(
    _ path: String, _ request: RegistrationRequest, at address: String?
  ) async throws -> RegistrationRecord {
    var request = request
    if request.environment == nil { request.environment = await environmentToRegister(at: address) }
    return try await post(path, request)
  }

  /// Returns the environment in which to register a device if the user names none: that of the listener with this
  /// address. Otherwise, if no listener serves the gateway's own environment, that of the first listener.
  ///
  /// - Returns: nil if the gateway's own environment is right, or if the gateway does not report its listeners.
  private func environmentToRegister(at address: String?) async -> String? {
    guard let status: GatewayStatus = try? await get(AdminPath.status()) else { return nil }
    let fixed = OptionValue.environments
    if let named = status.listeners.first(where: { $0.address == address }), fixed.contains(named.environment) {
      return named.environment
    }
    let served = status.listeners.map(\.environment).filter { $0 == "by-name" || fixed.contains($0) }
    return served.contains { $0 == "by-name" || $0 == status.environment } ? nil : served.first
  }

  /// Repeats a request once on another connection: a gateway that restarts ends the first connection, and the next
  /// program accepts the second.
  private func askAgain(_ path: String, _ fields: [(HeaderName, String)]) async throws -> Client.Answer {
    let next = try await Client.connect(to: endpoint)
    defer { next.close() }
    return try await next.request("GET", path, fields)
  }

  private func answer(
    _ method: String, _ path: String, body: [UInt8] = [], secret: String? = nil, accept: String? = nil
  ) async throws -> Client.Answer {
    let credential = secret.map { "Bearer " + $0 } ?? authorization
    let given: [(HeaderName, String?)] = [(.authorization, credential), (.accept, accept)]
    let fields = given.compactMap { name, value in value.map { (name, $0) } }
    let answer: Client.Answer
    do {
      answer = try await client.request(method, path, fields, body: body)
    } catch let error as ClientError {
      guard method == "GET", isRepeating, let again = try? await askAgain(path, fields) else {
        throw CommandFailure(error)
      }
      answer = again
    }
    guard answer.status < 300 else {
      var failure = CommandFailure(refusal: answer)
      if answer.status == 401, let wayBack { failure.message = wayBack }
      throw failure
    }
    return answer
  }
}
