import Foundation
public import PushPolicy

/// `/v1/…`: what devices ask for (design §4). The streams are ``Subscription``'s.
struct DeviceAPI: Sendable {
  let services: Services

  /// Where ``Subscription`` streams are.
  static let streamPath: StaticString = "/v1/device/stream"

  var router: Router {
    Router([
      .init("GET", "/v1/health") { _ in services.health.response },
      .init("POST", "/v1/devices", enrol),
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
        Response(["channels": services.channels.subscriptions(of: device.id).map(\.channel.description)])
      },
      route("PUT", "/v1/device/channels/{id}") { device, request in
        try await services.subscribe([device], to: try channel(request))
        return .noContent
      },
      route("DELETE", "/v1/device/channels/{id}") { device, request in
        try await services.unsubscribe(device.id, from: try channel(request))
        return .noContent
      },
      route("POST", "/v1/device/acknowledgements", acknowledge),
      route("POST", "/v1/device/ads/reports", reportAd),
      route("GET", "/v1/device/log", log),
    ])
  }

  /// A route for devices alone: who asks is known before anything else of the request is looked at.
  private func route(
    _ method: String, _ path: String, _ serve: @escaping @Sendable (Device, ControlRequest) async throws -> Response
  ) -> Router.Route {
    .init(method, path) { request in try await serve(try device(request.bearer), request) }
  }

  /// The device that a request comes from.
  func device(_ bearer: String?) throws(Problem) -> Device {
    guard let bearer, let device = services.registrations.device(secret: bearer) else { throw .unauthorized }
    return device
  }

  // MARK: Enrolment and registration

  private struct Enrolment: Decodable {
    var name: String
    var person: String?
  }

  /// What a device gets to know at enrolment, once.
  struct Enrolled: Codable {
    var device: String
    var secret: String
    var name: String
  }

  private func enrol(_ request: ControlRequest) async throws -> Response {
    guard request.body.count <= Limits.maximumEnrollmentSize else {
      throw Problem(413, "Content Too Large", "an enrollment has at most \(Limits.maximumEnrollmentSize) bytes")
    }
    // Anybody may send this: nothing else of it is looked at unless it holds an invitation, where one is needed.
    let invitation = (try? JSONParser().parse(request.body.span) { $0["invitation"]?.string }) ?? nil
    guard request.isLocal || invitation != nil else {
      throw Problem(
        403, "Forbidden", "from another machine enrolment needs an invitation: `pushcli devices invite` makes one")
    }
    let enrolment: Enrolment = try request.decoded()
    if !request.isLocal, let code = invitation {
      guard try await services.registrations.redeem(code, now: services.clock.seconds) else {
        throw Problem(403, "Forbidden", "this invitation is unknown, used or too old: ask for another")
      }
    }
    let (device, secret) = try await services.registrations.enrol(name: enrolment.name, person: enrolment.person)
    return Response(Enrolled(device: device.uuid, secret: secret, name: device.name), status: 201)
  }

  private func register(_ device: Device, _ request: ControlRequest) async throws -> Response {
    let registration = try await services.registrations.register(
      device.id, topic: request.parameters[0], environment: request.environment, expires: nil,
      now: services.clock.milliseconds())
    return Response(["token": registration.token.hex])
  }

  private func unregister(_ device: Device, _ request: ControlRequest) async throws -> Response {
    try await services.unregister(device.id, topic: request.parameters[0])
    return .noContent
  }

  private func channel(_ request: ControlRequest) throws -> ChannelID {
    guard let id = ChannelID(request.parameters[0].utf8) else {
      throw Problem.badRequest("\(request.parameters[0]) is no channel: base64 of 24 characters is due")
    }
    return id
  }

  // MARK: Preferences

  private func preferences(of device: Device) -> Preferences { services.registrations.preferences(of: device.id) }

  private func change(
    _ device: Device, _ change: @escaping @Sendable (inout Preferences) -> Void
  ) async throws -> Response {
    Response(
      try await services.registrations.changePreferences(of: device.person) { preferences in
        change(&preferences)
        try preferences.checkZones()
      })
  }

  /// Changes some choices and leaves the others as they are, whoever else changes them now.
  private func assign(_ device: Device, _ request: ControlRequest) async throws -> Response {
    let wish: PreferencesRequest = try request.decoded()
    if let topic = wish.app { _ = try services.registrations.app(topic: topic) }
    return Response(try await services.registrations.changePreferences(of: device.person) { try $0.assign(wish) })
  }

  // MARK: Acknowledgements and log

  private func acknowledge(_ device: Device, _ request: ControlRequest) async throws -> Response {
    struct Acknowledgement: Decodable { var seq: UInt64 }
    let seq = try request.decoded(Acknowledgement.self).seq
    guard seq <= Limits.maximumCursor else {
      throw Problem.badRequest("\"seq\" is \(seq): the number of the last push, at most \(Limits.maximumCursor)")
    }
    services.mailbox.acknowledge(device.id, through: seq)
    return .noContent
  }

  private func reportAd(_ device: Device, _ request: ControlRequest) async throws -> Response {
    let report: AdReportRequest = try request.decoded()
    guard let id = APNSID(report.id) else { throw Problem.badRequest("\(report.id) is no apns-id: a UUID") }
    let app = try services.registrations.app(topic: report.topic)
    let isIts = services.registrations.registrations(of: device.id).contains { $0.1.id == app.id }
    guard isIts else { throw Problem.badRequest("this device is not registered for \(report.topic)") }
    let text = report.text ?? ""
    guard text.utf8.count <= Limits.maximumPayloadSize else {
      throw Problem.badRequest("a text has at most \(Limits.maximumPayloadSize) bytes")
    }
    try await services.registrations.add(
      AdReport(
        at: services.clock.milliseconds(), device: device.id, app: app.id, id: id, text: text))
    return .noContent
  }

  private func log(_ device: Device, _ request: ControlRequest) async throws -> Response {
    var request = request
    // The names of other devices are none of its business.
    request.query["device"] = nil
    var query = try services.logQuery(request)
    query.device = device.id
    return Response(try await services.logRecords(query))
  }
}

extension Services {
  /// Ends a registration: the token answers 410 from now on, and what waits of the app goes.
  func unregister(_ device: DeviceID, topic: String) async throws {
    try await registrations.unregister(device, topic: topic, now: clock.milliseconds())
    let app = try registrations.app(topic: topic).id
    mailbox.purge(device, app: app)
    held.purge(device, app)
    try await channels.unsubscribe([device]) { $0.app == app }
    subscriptions.tell(device, .channels)
  }

  /// Takes a push off the screens of a person, and out of the digests that it waits for.
  ///
  /// - Parameter number: the stream that need not be told.
  func retract(_ id: APNSID, of person: PersonID, except number: UInt64? = nil) {
    for device in registrations.devices(of: person) {
      held.release(id, of: device)
      subscriptions.tell(device, .retract(id), except: number)
    }
  }

  /// What the query of a request asks of the delivery log: `id`, `device`, `app`, `event`, `since`, `after`, `before`,
  /// `limit`.
  func logQuery(_ request: ControlRequest) throws -> DeliveryLog.Query {
    var query = DeliveryLog.Query()
    if let id = request.query["id"] {
      guard let id = APNSID(id) else {
        throw Problem.badRequest("\(id) is no apns-id and no apns-unique-id: a UUID")
      }
      query.id = id
    }
    if let name = request.query["device"] { query.device = try registrations.device(named: name).id }
    if let topic = request.query["app"] { query.app = try registrations.app(topic: topic).id }
    if let names = request.query["event"] {
      query.events = Set(
        try names.split(separator: ",").map { name in
          guard let event = DeliveryEvent(rawValue: String(name)) else {
            let known = DeliveryEvent.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem.badRequest("\(name) is no event; there are \(known)")
          }
          return event
        })
    }
    if let since = request.query["since"] {
      guard let since = Int64(since) else { throw Problem.badRequest("since is in milliseconds since 1970") }
      query.since = since
    }
    query.after = request.query["after"].flatMap(Int64.init)
    query.before = request.query["before"].flatMap(Int64.init)
    query.limit = min(10_000, max(1, request.query["limit"].flatMap(Int.init) ?? query.limit))
    return query
  }

  /// Rows of the delivery log in words.
  func logRecords(_ query: DeliveryLog.Query) async throws -> [LogRecord] {
    var query = query
    if let id = query.id {
      guard let push = try await log.push(named: id) else { return [] }
      // Who looks a push up by its unique id means that one, also where its sender used an id for several devices.
      if let device = push.device, query.device.map({ $0 != device }) ?? false { return [] }
      (query.id, query.device) = (push.id, query.device ?? push.device)
    }
    return try await log.rows(query).map { record in
      var at: [UInt8] = []
      appendTimestamp(record.row.at, to: &at)
      return LogRecord(
        number: record.number, at: String(decoding: at, as: UTF8.self), event: record.row.event.rawValue,
        id: record.row.id.description, uniqueID: record.row.uniqueID?.description,
        status: DeliveryStatus(record.row)?.rawValue,
        device: record.row.device.flatMap { registrations.device($0)?.name },
        topic: record.row.app.flatMap { $0 == App.summary.id ? App.summary : registrations.app($0) }?.topic,
        record.row.detail)
    }
  }
}

/// One row of the delivery log as commands print it.
public struct LogRecord: Codable, Sendable {
  /// Its place in the log, for reading on.
  public var number: Int64
  /// RFC 3339, UTC.
  public var at: String
  /// What happened (design §1).
  public var event: String
  /// The `apns-id`.
  public var id: String
  /// The `apns-unique-id`, in the row of acceptance.
  public var uniqueID: String?
  /// The status that the real service's console has for it, if it has one (reference §9.1).
  public var status: String?
  public var device: String?
  public var topic: String?
  /// The rule, the parts or the action that it is about, in words.
  public var detail: String?
  /// The same in facts; nil from a gateway that only has words.
  public var details: DeliveryDetail?

  /// What it is about, also where there are only words.
  public var facts: DeliveryDetail { details ?? DeliveryDetail(words: detail ?? "", of: event) }

  init(
    number: Int64, at: String, event: String, id: String, uniqueID: String?, status: String?, device: String?,
    topic: String?, _ details: DeliveryDetail
  ) {
    (self.number, self.at, self.event, self.id, self.uniqueID) = (number, at, event, id, uniqueID)
    (self.status, self.device, self.topic) = (status, device, topic)
    let words = details.words
    detail = words.isEmpty ? nil : words
    self.details = details == .nothing ? nil : details
  }

  enum CodingKeys: String, CodingKey {
    case number, at, event, id, status, device, topic, detail, details
    case uniqueID = "unique_id"
  }
}
