import Foundation
import GatewayClient
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy

/// A push to be sent through the APNs provider API, with the sender's key and the gateway.
///
/// Its texts have the form of the options of `pushcli send`. Nil means the default of the option.
struct ProviderPush: Sendable {
  /// DEVICE/TOPIC, or GROUP/TOPIC; nil if there is a ``token`` or a ``channel``.
  var to: String?
  var token: String?
  var channel: String?
  var topic: String?
  var content = PayloadContent()
  var collapseID: String?
  var expires: String?
  var at: String?
  var delay: String?
  var priority: Int?
  var pushType: String?
  var id: String?
  /// The key; nil for a key of the app's team, else the development key.
  var signing: SigningOptions?
  var certificate: String?
  var certificateKey: String?
  var environment: String?
  var gateway: GatewayOptions
  /// The signer, if it was found before.
  var knownSigner: ProviderTokenSigner?
  /// Further addresses of the gateway's cluster.
  var others: [GatewayAddress] = []
  /// The number of addresses that are tried last, because they failed before.
  var skipped = 0
  /// See ``Client/connect(to:pingInterval:)``.
  var pingInterval: Duration?

  /// Sends the push with its ``content``, without any output, and returns the answer.
  func delivered() async throws -> Client.Answer {
    var payload = try Payload(.flags(body: content.body), content)
    let (token, topic) = try await target(&payload)
    return try await post(payload.bytes, token: token, topic: topic)
  }

  /// Returns the token of the device, or the channel, and the topic.
  ///
  /// - Parameter payload: a simulator's payload file names the topic; this member is removed.
  func target(_ payload: inout Payload) async throws -> (token: String, topic: String) {
    // This member is never sent, even if an option names the app and takes precedence.
    let named = payload.takeTarget()
    if let token = token ?? channel {
      guard let topic = topic ?? named else { throw CommandFailure(.usage, "--topic is missing") }
      return (token, topic)
    }
    let parts = (to ?? "").split(separator: "/", maxSplits: 1).map(String.init)
    guard let name = parts.first else { throw CommandFailure(.usage, "--to is DEVICE/TOPIC") }
    let admin = try await Admin(gateway.state)
    guard let topic = parts.count > 1 ? parts[1] : (topic ?? named) else {
      let known = try await registrations(of: name, admin).registrations
      throw CommandFailure(.usage, "--to is DEVICE/TOPIC: the topic is missing" + ProviderPush.others(known))
    }
    return (try await registeredToken(of: name, topic, admin), topic)
  }

  /// Returns the token of a device or group for a topic.
  func registeredToken(of name: String, _ topic: String, _ admin: Admin) async throws -> String {
    let environment = try await targetEnvironment(admin)
    let (registrations, kind) = try await registrations(of: name, admin)
    let matching = registrations.filter { topic == $0.topic || topic.hasPrefix($0.topic + ".") }
    guard let found = matching.first(where: { $0.environment == environment }) else {
      throw CommandFailure(
        .suppressed,
        "\(name) is not registered for \(topic) in \(environment): "
          + "`pushcli \(kind) register \(name) \(topic) --environment \(environment)`"
          + ProviderPush.others(registrations))
    }
    return found.token
  }

  /// Returns the other registrations of a device, at most five, as the end of a sentence.
  private static func others(_ registrations: [RegistrationRecord]) -> String {
    let names = registrations.map { "\($0.topic) in \($0.environment)" }
    guard !names.isEmpty else { return "" }
    return "; it has " + names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
  }

  /// Returns the registrations of a device, or of the group if no device has this name.
  private func registrations(
    of name: String, _ admin: Admin
  ) async throws -> (registrations: [RegistrationRecord], kind: String) {
    do {
      return (try await admin.get(AdminPath.registrations(name)), "devices")
    } catch let failure as CommandFailure where failure.status == 404 {
      guard let group: GroupRecord = try? await admin.get(AdminPath.group(name)) else { throw failure }
      return (group.registrations, "groups")
    }
  }

  /// Returns the environment of the listener that receives the push.
  private func targetEnvironment(_ admin: Admin) async throws -> String {
    if let environment { return environment }
    let status: GatewayStatus = try await admin.get(AdminPath.status())
    let first =
      gateway.gateway.map { address in status.listeners.first { $0.address == address } } ?? status.listeners.first
    guard let environment = first?.environment, environment != "by-name" else { return status.environment }
    return environment
  }

  /// Returns the endpoints for the push: a listener of the requested environment, and without such a request those of
  /// the other gateways of the cluster.
  private func endpoints() async throws -> [Client.Endpoint] {
    let identity = certificate.map { path in
      let stem = path.hasSuffix(".pem") ? String(path.dropLast(4)) : path
      return ClientIdentity(certificatePath: path, keyPath: certificateKey ?? stem + ".key")
    }
    var address: String?
    if let environment, gateway.gateway == nil {
      let status: GatewayStatus = try await Admin(gateway.state).get(AdminPath.status())
      address = status.listeners.first { $0.environment == environment }?.address
      if address == nil, status.environment != environment {
        throw CommandFailure(
          .usage, "no listener of this gateway serves \(environment): `serve --listen HOST:PORT=\(environment)`")
      }
    }
    return try gateway.endpoints(address: address, others: environment == nil ? others : nil, identity: identity)
  }

  /// Returns the path of the request, and its header fields without the sender's authorization.
  ///
  /// - Parameters:
  ///   - token: the device's token; not used for a broadcast.
  ///   - id: the ID to use if `--id` is not given.
  func head(token: String, topic: String, id newID: String, now: Date) throws -> (
    path: String, fields: [(HeaderName, String)]
  ) {
    var path = "/3/device/\(token)"
    // The sender chooses the ID, so that a push whose answer is lost can be sent again and still arrives once.
    var fields: [(HeaderName, String)] = [
      (.apnsPushType, pushType ?? PushType.split(topic: topic).type?.rawValue ?? "alert"),
      (.contentType, "application/json"),
    ]
    if let channel {
      path = "/4/broadcasts/apps/\(pathPart(topic))"
      fields[0].1 = pushType ?? "liveactivity"
      fields += [(.apnsChannelID, channel), (.apnsRequestID, id ?? newID)]
      if expires == nil { fields.append((.apnsExpiration, "0")) }
    } else {
      fields += [(.apnsTopic, topic), (.apnsID, id ?? newID)]
    }
    if let priority { fields.append((.apnsPriority, String(priority))) }
    if let collapseID { fields.append((.apnsCollapseID, collapseID)) }
    let time = try deliveryTime(now: now)
    if let time { fields.append((.apnsDeliverAt, String(time.seconds))) }
    // The lifetime of a scheduled push begins at its delivery time.
    let start = time.map { Date(timeIntervalSince1970: Double($0.seconds)) } ?? now
    if let expires { fields.append((.apnsExpiration, try expiration(expires, now: start))) }
    return (path, fields)
  }

  /// Sends the push with this payload.
  func post(_ payload: [UInt8], token: String, topic: String) async throws -> Client.Answer {
    let now = Date()
    let (path, fields) = try head(token: token, topic: topic, id: randomUUID(), now: now)
    return try await request("POST", path, fields, payload)
  }

  /// Sends a request as the sender, and again if no answer arrives.
  func request(
    _ method: String, _ path: String, _ fields: [(HeaderName, String)], _ body: [UInt8]
  ) async throws -> Client.Answer {
    var fields = fields
    if certificate == nil {
      let now = Int(Date().timeIntervalSince1970)
      fields.append((.authorization, "bearer " + (try await signer().token(now: now))))
    }
    var backoff = Backoff(first: .milliseconds(200), last: .seconds(1))
    for attempt in 1... {
      var index = 0
      do {
        let endpoints = try await endpoints()
        index = (skipped + attempt - 1) % endpoints.count
        let client = try await Client.connect(to: endpoints[index], pingInterval: pingInterval)
        defer { client.close() }
        return try await client.request(method, path, fields, body: body)
      } catch let error as ClientError {
        // Only the certificate of the first gateway ends the command, and a refusal of this client's certificate.
        if attempt == 3 || error.isRefusal || error.isPermanent && index == 0 { throw CommandFailure(error) }
        try await Task.sleep(for: backoff.next())
      } catch let failure as CommandFailure {
        throw failure
      } catch {
        throw CommandFailure(certificate == nil ? .failed : .notAuthorized, "\(error)")
      }
    }
    throw CommandFailure(.unreachable)
  }

  /// Returns a signer with the named key, else with a key of the app's team on this machine, else with the development
  /// key.
  func signer() async throws -> ProviderTokenSigner {
    if let knownSigner { return knownSigner }
    let development = try gateway.state.folder.development
    let parts = to.map { $0.split(separator: "/", maxSplits: 1).map(String.init) } ?? []
    if signing?.isGiven != true, let topic = parts.count > 1 ? parts[1] : topic,
      let found = try await ProviderTokenSigner.find(for: topic, except: development?.teamID, gateway.state)
    {
      return found
    }
    return try ProviderTokenSigner(signing, development: development)
  }

  /// Returns the time of delivery; nil for now.
  func deliveryTime(now: Date) throws(CommandFailure) -> DeliveryTime? {
    if let at { return try DeliveryTime(at: at, now: now) }
    guard let delay else { return nil }
    return try DeliveryTime(in: delay, now: now)
  }

  private func expiration(_ text: String, now: Date) throws -> String {
    if Int(text) != nil { return text }
    let span = try TimeSpan(text, option: "--expires", requiresUnit: true)
    return String(Int64(now.timeIntervalSince1970 + span.seconds))
  }
}
