import Foundation
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The routes `/admin/v1/…`: teams, keys, apps, devices, preferences, log (design §5).
///
/// Every process that may open the admin socket has all permissions: the mode of the socket is 0600. For requests
/// from other machines, ``AdminAuthorizer`` requires the role of each route.
struct AdminAPI: Sendable {
  let registrations: any Registrations
  let groups: Groups
  let apps: Apps
  let devices: Devices
  let pushes: Pushes
  let logQueries: LogQueries
  /// The default environment of devices that register.
  let environment: Environment
  let clock: WallClock
  /// The authorization of requests.
  let gate: AdminAuthorizer
  let audit: AuditAPI
  let lists: ListsAPI
  /// The routes of the other APIs for administrators.
  let others: [Router.Route]
  /// The routes that change nothing, although they are not `GET`: the audit trail does not have them.
  let unrecorded: [Router.Route]
  /// The routes without authentication.
  let publicRoutes: [Router.Route]
  let status: @Sendable () -> GatewayStatus
  /// Writes a backup of the gateway to a file.
  let backup: @Sendable (String) async throws -> Backup.Summary
  /// Compacts the database and returns its size in bytes before and after; nil if there is no database.
  var compact: (@Sendable () async throws -> (before: Int, after: Int))?
  /// Returns the CA fingerprint for invitation codes; nil without a certificate.
  var authority: @Sendable () -> String? = { nil }
  /// The metrics route; nil if metrics are not served.
  var metrics: MetricsAPI?

  static let prefix: StaticString = "/admin/"

  /// Returns true if a request on the admin socket belongs to these routes.
  static func isFor(_ request: Message) -> Bool {
    request.has(.path, beginningWith: prefix) || request.has(.path, MetricsAPI.path)
  }

  var router: Router {
    let recorded = (routes + lists.routes + others).map(audit.audited)
    return Router((recorded + audit.routes + unrecorded + (metrics?.routes ?? [])).map(gate.guarded))
  }

  private var routes: [Router.Route] {
    [
      .init("GET", .status, .reader) { _ in Response(status()) },
      .init("POST", .teams, .operator, addTeam),
      .empty("DELETE", .team, .admin) { try await registrations.removeTeam($0.parameters[0]) },
      .init("POST", .keys, .admin, createKey),
      .empty("DELETE", .key, .admin) { try await registrations.removeKey($0.parameters[0]) },
      .init("POST", .apps, .operator, putApp),
      .empty("DELETE", .app, .admin) { request in
        let app = try registrations.app(topic: request.parameters[0])
        if request.query["force"] != "true" { try await apps.requireUnused(app) }
        try await apps.remove(app)
      },
      .init("GET", .categories, .reader) { request in
        let app = try registrations.app(topic: request.parameters[0])
        let categories = registrations.categories(of: app.id).sorted { $0.key < $1.key }
        return Response(categories.map { CategoryRecord(category: $0.key, actions: $0.value) })
      },
      .init("POST", .categories, .operator, putCategory),
      .empty("DELETE", .category, .operator) { request in
        let app = try registrations.app(topic: request.parameters[0])
        try await registrations.removeCategory(app.id, request.parameters[1])
      },
      .empty("DELETE", .device, .admin) { try await devices.remove(try device($0).id) },
      .init("POST", .deviceSecret, .admin) { request in
        let device = try device(request)
        let secret = try await registrations.rotateSecret(of: device.id)
        return Response(Enrolled(device: device.uuid, secret: secret, name: device.name), status: 201)
      },
      .init("POST", .personName, .operator) { request in
        let person = try registrations.person(named: request.parameters[0])
        let body: PersonRequest = try request.decoded()
        try await registrations.rename(person.id, to: body.name)
        return Response(lists.record(try registrations.person(named: body.name)))
      },
      .empty("DELETE", .person, .admin) { request in
        try await devices.remove(try registrations.person(named: request.parameters[0]).id)
      },
      .init("POST", .batches, .admin, enrollBatch),
      .empty("DELETE", .batch, .admin) { try await devices.remove(batch: $0.parameters[0]) },
      .init("POST", .invitations, .admin, invite),
      .empty("DELETE", .invitation, .admin) { try await registrations.withdraw(invitation: $0.parameters[0]) },
      .init("GET", .registrations, .reader, listRegistrations),
      .init("POST", .registrations, .operator, register),
      .empty("DELETE", .registration, .operator) { request in
        try await devices.unregister(try device(request).id, topic: request.parameters[1])
      },
      .init("GET", .preferences, .reader) { request in
        Response(registrations.preferences(of: try device(request).id))
      },
      .init("POST", .preferences, .operator, changePreferences),
      .empty("DELETE", .deviceAlert, .operator, retract),
      .init("POST", .backup, .admin) { request in
        let body: BackupRequest = try request.decoded()
        guard body.path.hasPrefix("/") else {
          throw Problem.badRequest("invalid path \"\(body.path)\": expected an absolute path")
        }
        return Response(try await backup(body.path), status: 201)
      },
      .init("POST", .compact, .operator) { _ in
        guard let compact else { throw Problem.notFound("this gateway has no database of its own") }
        let (before, after) = try await compact()
        return Response(CompactRecord(before: before, after: after))
      },
      .init("GET", .log, .reader) { request in
        Response(LogRows(try await logQueries.newest(try logQueries.request(request.query))))
      },
      .init("GET", .logStart, .reader) { request in
        Response(LogStart(try await logQueries.start(try logQueries.request(request.query))))
      },
      .init("GET", .logNext, .reader, isWaiting: true, nextRows),
    ]
  }

  /// Returns the next rows of the log, or, if there are none, the rows that arrive within the requested time.
  private func nextRows(_ request: ControlRequest) async throws -> Response {
    let time = try LogQueries.wait(request.query)
    guard let page = try await logQueries.page(try logQueries.request(request.query), within: time) else {
      throw LogQueries.tooManyWaits
    }
    return Response(LogPage(page))
  }

  private func device(_ request: ControlRequest) throws -> Device {
    try registrations.device(named: request.parameters[0])
  }

  // MARK: Teams and keys

  private func addTeam(_ request: ControlRequest) async throws -> Response {
    let team: TeamRecord = try request.decoded()
    try await registrations.addTeam(team.id)
    return Response(team, status: 201)
  }

  private func createKey(_ request: ControlRequest) async throws -> Response {
    let body: KeyRequest = try request.decoded()
    guard body.topics.count <= Limits.maximumKeyTopics else {
      throw Problem.badRequest(
        "too many topics for a key: \(body.topics.count), expected at most \(Limits.maximumKeyTopics)")
    }
    let given = try body.pem.map { pem in
      do {
        return try ES256Key(pem: Array(pem.utf8))
      } catch {
        throw Problem.badRequest("invalid key for provider tokens: \(error)")
      }
    }
    guard given == nil || body.id != nil else {
      throw Problem.badRequest("missing id of the key: send `id` together with `pem`")
    }
    let (key, privatePEM) = try await apps.addKey(
      id: body.id, team: body.team, key: given, environment: body.environment.flatMap(Environment.init),
      topics: body.topics, related: body.related)
    let privateKey = privatePEM.map { String(decoding: $0, as: UTF8.self) }
    return Response(CreatedKey(id: key.id, team: body.team, privateKey: privateKey), status: 201)
  }

  // MARK: Apps and devices

  private func putApp(_ request: ControlRequest) async throws -> Response {
    let app: AppRequest = try request.decoded()
    return Response(
      try await apps.put(
        topic: app.topic, name: app.name, icon: app.icon, policyMode: app.policyMode.flatMap(PolicyMode.init),
        isStrict: app.strict, ads: app.ads.flatMap(AdMode.init), team: app.team,
        startsQuiet: app.newCategories.map { $0 == "quiet" }),
      status: 201)
  }

  private func putCategory(_ request: ControlRequest) async throws -> Response {
    let app = try registrations.app(topic: request.parameters[0])
    let category: CategoryRecord = try request.decoded()
    try Problem.check(
      category.validSeconds, 1...Limits.maximumLifetime, "validity of a question's category", of: "seconds (30 days)")
    try await registrations.putCategory(
      app.id, category.category, category.actions,
      expires: category.validSeconds.map { clock.seconds + Int64($0) })
    return Response(category, status: 201)
  }

  private func listRegistrations(_ request: ControlRequest) throws -> Response {
    let now = clock.milliseconds()
    return Response(
      registrations.registrations(of: try device(request).id).compactMap { registration, app -> RegistrationRecord? in
        guard !registration.isExpired(at: now) else { return nil }
        return RegistrationRecord(
          token: registration.token.hex, topic: app.topic, environment: registration.environment.rawValue)
      })
  }

  private func register(_ request: ControlRequest) async throws -> Response {
    let body: RegistrationRequest = try request.decoded()
    try Problem.check(
      body.validSeconds, 0...Limits.maximumTokenValidity, "validity of a token", of: "seconds (ten years)")
    let environment = body.environment.flatMap(Environment.init) ?? self.environment
    let registration = try await devices.register(
      try device(request).id, topic: body.topic, environment: environment, validSeconds: body.validSeconds)
    return Response(
      RegistrationRecord(token: registration.token.hex, topic: body.topic, environment: environment.rawValue))
  }

  /// Retracts an alert of a device's user. The query item `topic` names its app; without it, the alert of any app
  /// matches.
  private func retract(_ request: ControlRequest) async throws {
    let text = request.parameters[1]
    guard let id = APNSID(text) else { throw Problem.badRequest("invalid apns-id \"\(text)\": expected a UUID") }
    let app = try request.query["topic"].map { try registrations.app(topic: $0).id }
    _ = try await pushes.retract(
      id, of: app, from: [try device(request).person], by: request.administrator?.shown ?? "an administrator")
  }

  private func enrollBatch(_ request: ControlRequest) async throws -> Response {
    let body: BatchRequest = try request.decoded()
    guard (1...Limits.maximumBatchSize).contains(body.count), (0...999_999_999).contains(body.first) else {
      throw Problem.badRequest(
        "invalid batch: expected 1 to \(Limits.maximumBatchSize) devices with numbers below 1000000000")
    }
    let isTaken = groups.groups.contains { $0.name.hasPrefix(body.name + "-") }
    guard !isTaken else {
      throw Problem(409, "Conflict", "a group's name begins with \(body.name)-: choose another name for the batch")
    }
    let enrolled = try await registrations.enroll(
      batch: body.name, numbers: body.first..<(body.first + body.count), topic: body.topic,
      environment: environment)
    return Response(enrolled.map { BatchDevice(secret: $0.secret, token: $0.token.hex) }, status: 201)
  }

  private func invite(_ request: ControlRequest) async throws -> Response {
    let body: InvitationRequest = try request.decoded()
    try Problem.check(
      body.validSeconds, 1...Limits.maximumInvitationValidity, "validity of an invitation", of: "seconds (a year)")
    guard let role = Role(rawValue: body.role ?? Role.device.rawValue) else {
      let roles = Role.invitable.map(\.rawValue).joined(separator: ", ")
      throw Problem.badRequest("unknown role \(body.role ?? ""): expected one of \(roles)")
    }
    guard let authority = authority() else { throw Problem.noFingerprint(for: "code") }
    let (secret, invitation) = try await registrations.invite(
      InvitationTerms(
        person: body.person, role: role, expires: clock.seconds + Int64(body.validSeconds)))
    let code = InvitationCode(authority: authority, secret: secret).description
    return Response(CreatedInvitation(code: code, InvitationRecord(invitation)), status: 201)
  }

  // MARK: Preferences

  private func changePreferences(_ request: ControlRequest) async throws -> Response {
    let body: PreferencesRequest = try request.decoded()
    let device = try device(request)
    return Response(
      try await devices.changePreferences(
        of: device.person, assigning: body.settings, app: body.app, category: body.category, isByOwner: false,
        by: device.id))
  }
}
