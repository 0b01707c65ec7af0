import Foundation
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The requests of devices, `/v1/…` (design §4). ``DeviceStream`` serves their streams.
struct DeviceAPI: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let streams: any PushRouter
  /// The epoch of the mailbox's numbering; nil for a standalone gateway.
  let epoch: NumberingEpoch?
  let channels: Channels
  let groups: Groups
  let audit: AuditTrail
  let budgets: DeviceRateLimiter
  let devices: Devices
  let pushes: Pushes
  let broadcasts: Broadcasts
  let endpoints: WebPushEndpoints
  let attachments: Attachments
  let pages: ClosedPages
  let logQueries: LogQueries
  let lists: ListsAPI
  let standings: Standings
  let clock: WallClock

  var routes: [Router.Route] {
    [
      .init("POST", "/v1/devices", enroll),
      route("GET", "/v1/device") { device, _ in
        guard let listed = registrations.listed(device.id) else { throw Problem.unauthorized }
        let presence = lists.presence.here(CollectionOfOne(device.id))
        return Response(lists.record(listed, presence[0]))
      },
      route("GET", "/v1/device/apps") { device, _ in
        Response(registrations.registrations(of: device.id).map(\.1).sorted { $0.topic < $1.topic })
      },
      route("PUT", "/v1/device/apps/{topic}", register),
      route("DELETE", "/v1/device/apps/{topic}", unregister),
      route("GET", "/v1/device/preferences") { device, _ in Response(preferences(of: device)) },
      route("PUT", "/v1/device/preferences") { device, request in
        let preferences: Preferences = try request.choices(.everything)
        return try await change(device) { $0 = preferences }
      },
      route("POST", "/v1/device/preferences", assign),
      route("GET", "/v1/device/preferences/apps/{topic}") { device, request in
        Response(preferences(of: device).apps[request.parameters[0]] ?? AppPreferences())
      },
      route("PUT", "/v1/device/preferences/apps/{topic}") { device, request in
        let app: AppPreferences = try request.choices(.app)
        return try await change(device) { $0.apps[request.parameters[0]] = app }
      },
      route("GET", "/v1/device/preferences/apps/{topic}/categories/{category}") { device, request in
        let app = preferences(of: device).apps[request.parameters[0]]
        return Response(app?.categories[request.parameters[1]] ?? CategoryPreferences())
      },
      route("PUT", "/v1/device/preferences/apps/{topic}/categories/{category}") { device, request in
        let category: CategoryPreferences = try request.choices(.category)
        return try await change(device) {
          $0.apps[request.parameters[0], default: AppPreferences()].categories[request.parameters[1]] = category
        }
      },
      route("GET", "/v1/device/channels") { device, _ in
        Response(["channels": channels.subscriptions(of: device.id).map(\.channel.description)])
      },
      route("POST", "/v1/device/channels", join),
      route("PUT", "/v1/device/channels/{id}") { device, request in
        try countChange(of: device)
        try await broadcasts.subscribe([device], to: try channel(request))
        return .noContent
      },
      route("DELETE", "/v1/device/channels/{id}") { device, request in
        try countChange(of: device)
        try await broadcasts.unsubscribe(device.id, from: try channel(request))
        return .noContent
      },
      route("POST", "/v1/device/acknowledgements", acknowledge),
      route("POST", "/v1/device/reports", report),
      route("POST", "/v1/device/ads/reports", reportAd),
      route("GET", "/v1/device/ads/reports") { device, request in
        Response(try await pushes.adReports(request.query, of: device.id).map(AdReportRecord.init))
      },
      route("GET", "/v1/device/ads/standing") { device, _ in
        let apps = registrations.registrations(of: device.id).map(\.1).sorted { $0.topic < $1.topic }
        return Response(rows: try await standings.records(of: apps))
      },
      route("GET", "/v1/device/log", log),
      route("GET", "/v1/device/log/start") { device, request in
        try await searching(device) {
          let (queries, search) = try logQuery(device, request)
          return Response(LogStart(try await queries.start(search)))
        }
      },
      route("GET", "/v1/device/log/next", isWaiting: true, nextRows),
    ]
  }

  /// Returns a route for devices, which authenticates the device before it reads anything else of the request.
  func route(
    _ method: String, _ path: String, isWaiting: Bool = false,
    _ serve: @escaping @Sendable (Device, ControlRequest) async throws -> Response
  ) -> Router.Route {
    .init(method, path, isWaiting: isWaiting) { request in try await serve(try device(request.bearer), request) }
  }

  /// Returns the device that sent a request.
  func device(_ bearer: String?) throws(Problem) -> Device {
    guard let bearer, let device = registrations.device(secret: bearer) else { throw .unauthorized }
    return device
  }

  // MARK: Enrollment and registration

  private struct EnrollmentRequest: Codable {
    var name: String
    var person: String?
  }

  private func enroll(_ request: ControlRequest) async throws -> Response {
    Response(try await enrolled(request), status: 201)
  }

  func enrolled(_ request: ControlRequest) async throws -> Enrolled {
    guard request.body.count <= Limits.maximumEnrollmentSize else {
      throw Problem(
        413, "Content Too Large", "the enrollment is too large: expected at most \(Limits.maximumEnrollmentSize) bytes")
    }
    // An enrollment uses the only database writer, which pushes need too, even if it is refused.
    let now = clock.milliseconds()
    let isAdmin = request.administrator?.role == .admin
    guard isAdmin || budgets.allowsEnrollment(from: request.source, at: now) else {
      throw Problem.tooManyRequests("too many enrollments from this address: try again in a minute")
    }
    // Unauthenticated clients can send this request: the rest is read only if it contains an invitation, where one is
    // required.
    let invitation = (try? JSONParser().parse(request.body.span) { $0["invitation"]?.string }) ?? nil
    let authorization = try devices.authorization(of: isAdmin ? .adminSocket : request.peer, invitation: invitation)
    let enrollment: EnrollmentRequest = try request.decoded()
    let record = isAdmin ? try await record(enrollment, request) : nil
    do {
      let enrolled = try await countingCodes(request, isCode: invitation != nil) {
        try await makeDevice(enrollment, by: authorization)
      }
      if let record { await audit.note(status: 201, of: record) }
      if case .invitation(let secret, _) = authorization, !isAdmin { await noteJoined(enrolled, by: secret, request) }
      return enrolled
    } catch {
      if let record { await audit.note(status: (Problem(error) ?? .failure).status, of: record) }
      throw error
    }
  }

  /// Records in the audit trail which device used an invitation. Channel links are excluded: unauthenticated clients
  /// could fill the audit trail with them.
  private func noteJoined(_ enrolled: Enrolled, by secret: String, _ request: ControlRequest) async {
    guard InvitationCode.selector(of: secret) != nil else { return }
    let joined = EnrollmentRequest(name: enrolled.name, person: enrolled.person)
    await audit.note(
      executed: request.method, request.path, body: controlJSON(joined), by: "an invitation", at: clock.milliseconds(),
      status: 201)
  }

  /// Enrolls a device; a device that enrolls with a channel link reads the channel from the first message.
  private func makeDevice(_ enrollment: EnrollmentRequest, by authorization: EnrollmentAuthorization) async throws
    -> Enrolled
  {
    var channel: BroadcastChannel?
    if case .invitation(let secret, _) = authorization { channel = try await broadcasts.channel(of: secret) }
    try groups.requireFree(enrollment.name)
    let (device, secret) = try await devices.enroll(
      name: enrollment.name, person: enrollment.person, by: authorization)
    if let channel { try await broadcasts.join(channel, enrolled: device) }
    return Enrolled(
      device: device.uuid, secret: secret, name: device.name,
      person: registrations.person(device.person)?.name, role: device.role.rawValue,
      channel: channel.map { joined($0, isKnown: false) })
  }

  /// Runs an operation that a code authorizes; a wrong code counts against the client's address.
  private func countingCodes<Value>(
    _ request: ControlRequest, isCode: Bool = true, _ body: () async throws -> Value
  ) async throws -> Value {
    let now = clock.milliseconds()
    guard !isCode || budgets.allowsCode(from: request.source, at: now) else {
      throw Problem.tooManyRequests(
        "\(Limits.wrongInvitations.burst) wrong codes came from this address: wait some minutes, and ask for another code"
      )
    }
    do {
      return try await body()
    } catch {
      if (error as? RegistrationRefusal)?.kind == .wrongCode {
        budgets.noteWrongCode(from: request.source, at: now)
      }
      throw error
    }
  }

  /// Subscribes a device to the channel of a link.
  private func join(_ device: Device, _ request: ControlRequest) async throws -> Response {
    let body: JoinChannelRequest = try request.decoded()
    try countChange(of: device)
    let (channel, isKnown) = try await countingCodes(request) {
      try await broadcasts.join(device, by: InvitationCode(reading: body.invitation).secret)
    }
    return Response(joined(channel, isKnown: isKnown))
  }

  private func joined(_ channel: BroadcastChannel, isKnown: Bool) -> JoinedChannel {
    JoinedChannel(
      id: channel.id.description, topic: registrations.app(channel.app)?.topic ?? "",
      environment: channel.environment.rawValue, isKnown: isKnown)
  }

  /// Records an administrator's enrollment request in the audit trail before it is carried out, without the
  /// invitation.
  private func record(_ enrollment: EnrollmentRequest, _ request: ControlRequest) async throws -> Int64 {
    try await audit.record(
      request.method, request.path, body: controlJSON(enrollment), by: request.administrator?.shown,
      at: clock.milliseconds())
  }

  private func register(_ device: Device, _ request: ControlRequest) async throws -> Response {
    try countChange(of: device)
    let registration = try await devices.register(
      device.id, topic: request.parameters[0], environment: request.environment)
    return Response(["token": registration.token.hex])
  }

  private func unregister(_ device: Device, _ request: ControlRequest) async throws -> Response {
    try countChange(of: device)
    try await devices.unregister(device.id, topic: request.parameters[0])
    return .noContent
  }

  private func channel(_ request: ControlRequest) throws -> ChannelID {
    guard let id = ChannelID(request.parameters[0].utf8) else {
      throw Problem.badRequest("invalid channel \"\(request.parameters[0])\": expected 24 characters of base64")
    }
    return id
  }

  // MARK: Preferences

  private func preferences(of device: Device) -> Preferences { registrations.preferences(of: device.id) }

  private func change(
    _ device: Device, _ change: @escaping @Sendable (inout Preferences) -> Void
  ) async throws -> Response {
    try countChange(of: device.person)
    return Response(try await devices.changePreferences(of: device.person, by: device.id, change))
  }

  /// Changes some preferences and leaves the others unchanged, even if other requests change them concurrently.
  private func assign(_ device: Device, _ request: ControlRequest) async throws -> Response {
    let body: PreferencesRequest = try request.decoded()
    try countChange(of: device.person)
    let push = await push(of: body, to: device)
    return Response(
      try await devices.changePreferences(
        of: device.person, assigning: body.settings, app: body.app, category: body.category, isByOwner: true,
        by: device.id, push: push))
  }

  /// Returns the push that a change names, if the device was sent it for the app; a change never fails because of it.
  private func push(of body: PreferencesRequest, to device: Device) async -> APNSID? {
    guard let id = body.push.flatMap({ APNSID($0) }), let found = try? await sent(id, to: device) else { return nil }
    return registrations.app(found.app)?.topic == body.app ? id : nil
  }

  // MARK: Budgets

  /// - Throws: 429 if the user's preferences change faster than a human changes them.
  private func countChange(of person: PersonID) throws(Problem) {
    guard budgets.allowsChange(person, at: clock.milliseconds()) else {
      throw .tooManyRequests(
        "preferences change at most \(Limits.personChanges.perSecond) times a second: try again in a moment")
    }
  }

  /// - Throws: 429 if the device registers, subscribes and reports too often.
  func countChange(of device: Device) throws(Problem) {
    guard budgets.allowsChange(device.id, at: clock.milliseconds()) else {
      throw .tooManyRequests(
        "a device registers, subscribes and reports at most \(Limits.deviceChanges.perSecond) times a second: "
          + "try again in a moment")
    }
  }

  // MARK: Acknowledgements and log

  private func acknowledge(_ device: Device, _ request: ControlRequest) async throws -> Response {
    struct Acknowledgement: Decodable {
      var seq: UInt64
      var epoch: String?
    }
    let acknowledgement = try request.decoded(Acknowledgement.self)
    let seq = acknowledgement.seq
    guard seq <= Limits.maximumCursor else {
      throw Problem.badRequest(
        "invalid \"seq\" \(seq): expected the number of the last push, at most \(Limits.maximumCursor)")
    }
    guard acknowledgement.epoch == epoch?.description else {
      throw Problem(
        409, "Conflict", "wrong \"epoch\": expected the value in the stream's welcome line")
    }
    mailbox.acknowledge(device.id, through: seq)
    // Each stream logs the pushes that it has sent.
    streams.notify(device.id, .acknowledged(seq))
    return .noContent
  }

  private func reportAd(_ device: Device, _ request: ControlRequest) async throws -> Response {
    let report: AdReportRequest = try request.decoded()
    guard let id = APNSID(report.id) else {
      throw Problem.badRequest("invalid apns-id \"\(report.id)\": expected a UUID")
    }
    try countChange(of: device)
    let app = try await pushes.reportAd(id, topic: report.topic, text: report.text ?? "", by: device.id)
    // The report is stored: the next evaluation repeats a failed one.
    try? await standings.noteReport(of: app)
    return .noContent
  }

  private func log(_ device: Device, _ request: ControlRequest) async throws -> Response {
    try await searching(device) {
      let (queries, search) = try logQuery(device, request)
      return Response(LogRows(try await queries.newest(search)))
    }
  }

  /// Returns the device's next rows, or waits for them. Reads at most ``Limits/deviceLogSearchSize`` of the log: a
  /// client that starts further back reads pages, beginning with the newest.
  private func nextRows(_ device: Device, _ request: ControlRequest) async throws -> Response {
    let (queries, search) = try logQuery(device, request)
    guard let page = try await queries.page(search, within: try LogQueries.wait(request.query)) else {
      throw LogQueries.tooManyWaits
    }
    return Response(LogPage(page))
  }

  /// Creates the device's query for its own rows; names of other devices are ignored.
  private func logQuery(_ device: Device, _ request: ControlRequest) throws -> (LogQueries, LogQueries.Request) {
    var queries = logQueries
    queries.reader = device.id
    var search = try queries.request(request.query.filter { $0.key != "device" })
    search.query.device = device.id
    search.query.maximumReadSize = Limits.deviceLogSearchSize
    return (queries, search)
  }

  /// Runs a search; a device can run one at a time.
  func searching<Value>(_ device: Device, _ search: () async throws -> Value) async throws -> Value {
    guard budgets.beginSearch(device.id) else {
      throw Problem.tooManyRequests("another search of this device's log is running: wait for its response")
    }
    defer { budgets.endSearch(device.id) }
    return try await search()
  }
}

extension Message {
  /// True if the request is for a device stream; a request for an event stream may have a query.
  var isForDeviceStream: Bool {
    has(.path, Paths.deviceStream) || has(.path, beginningWith: Paths.deviceStreamQuery)
  }
}
