import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The routes of `/admin/v1/devices` and the other lists, in pages: `limit`, `after` with the last name of the
/// previous page, `filter` with a text in the name.
struct ListsAPI: Sendable {
  let registrations: any Registrations
  let channels: Channels
  let pushes: Pushes
  let presence: ClusterPresence
  let clock: WallClock

  var routes: [Router.Route] {
    [
      .init("GET", .teams, .reader) {
        Response(rows: try ListsAPI.page($0, registrations.teams.map(TeamRecord.init), \.id))
      },
      .init("GET", .keys, .reader) {
        Response(rows: try ListsAPI.page($0, registrations.keys.map(KeyRecord.init), \.id))
      },
      .init("GET", .apps, .reader) {
        Response(rows: try ListsAPI.page($0, registrations.apps, \.topic))
      },
      .init("GET", .devices, .reader, devices),
      .init("GET", .device, .reader) { request in
        let device = try registrations.device(named: request.parameters[0])
        guard let listed = registrations.listed(device.id) else {
          throw Problem.notFound("this device was removed")
        }
        return Response(record(listed, await presence.of([device.id])[0]))
      },
      .init("GET", .persons, .reader, persons),
      .init("GET", .person, .reader) { request in
        Response(record(try registrations.person(named: request.parameters[0])))
      },
      .init("GET", .invitations, .reader) { request in
        let invitations = try await registrations.invitations(now: clock.seconds)
        return Response(
          rows: try ListsAPI.page(request, invitations.map { InvitationRecord($0, channels, registrations) }, \.id))
      },
      .init("GET", .adReports, .operator) { request in
        let reports = try await pushes.adReports(request.query)
        return Response(
          reports.map { found in
            var record = AdReportRecord(found)
            record.review = found.report.review?.rawValue
            return record
          })
      },
      .init("POST", .adReport, .operator, review),
    ]
  }

  /// Stores the review of a report of advertising, or removes it.
  private func review(_ request: ControlRequest) async throws -> Response {
    guard let number = Int64(request.parameters[0]) else {
      throw Problem.notFound("there is no report \(request.parameters[0].prefix(64)): expected a number of the list")
    }
    let body: AdReviewRequest = try request.decoded()
    var review: AdReport.Review?
    if let text = body.review {
      review = AdReport.Review(rawValue: text)
      guard review != nil else {
        throw Problem.badRequest("unknown review \"\(text.prefix(64))\": expected right or wrong, or none")
      }
    }
    try await registrations.review(adReport: number, as: review)
    return .noContent
  }

  /// Returns the requested page of a list; nil for the whole list.
  private static func page(_ request: ControlRequest) throws -> ListPage? {
    let (limit, after, filter) = (request.query["limit"], request.query["after"], request.query["filter"])
    guard limit ?? after ?? filter != nil else { return nil }
    guard let number = Int(limit ?? "\(Limits.maximumListPage)"), number > 0 else {
      throw Problem.badRequest("invalid limit: expected a number from 1 to \(Limits.maximumListPage)")
    }
    return ListPage(after: after, filter: filter, limit: min(number, Limits.maximumListPage))
  }

  /// Returns a page of a list that fits into memory; the whole list if the request has no page parameters.
  static func page<Row>(_ request: ControlRequest, _ rows: [Row], _ name: (Row) -> String) throws -> [Row] {
    try page(request)?.take(of: rows, by: name) ?? rows
  }

  // MARK: Devices and users, up to a million

  private func devices(_ request: ControlRequest) async throws -> Response {
    let page = try ListsAPI.page(request) ?? ListPage(limit: Limits.maximumListPage)
    let devices = try await registrations.listDevices(page)
    let states = await presence.of(devices)
    // Formatting the rows takes nearly all the time of a long list: two cores share it.
    let middle = devices.count / 2
    async let first = rows(of: devices[..<middle], states[..<middle])
    let second = rows(of: devices[middle...], states[middle...])
    return Response(parts: [await first, second])
  }

  private func rows(of devices: ArraySlice<DeviceID>, _ presence: ArraySlice<ClusterPresence.OfDevice>) -> [UInt8] {
    let listed = zip(devices, presence).compactMap { device, presence in
      registrations.listed(device).map { ($0, presence) }
    }
    return Response.rows(listed) { record($0.0, $0.1).appendJSON(to: &$1) }
  }

  private func persons(_ request: ControlRequest) async throws -> Response {
    let page = try ListsAPI.page(request) ?? ListPage(limit: Limits.maximumListPage)
    let rows = try await registrations.listPersons(page).compactMap(registrations.person)
    return Response(rows: rows) { record($0).appendJSON(to: &$1) }
  }

  func record(_ listed: ListedDevice, _ presence: ClusterPresence.OfDevice) -> DeviceRecord {
    let device = listed.device
    let seen = presence.streams > 0 ? clock.seconds : device.lastSeen
    return DeviceRecord(
      device: device.uuid, name: device.name, role: device.role.rawValue,
      person: listed.person, registrations: topics(of: listed),
      waiting: presence.waiting, streams: presence.streams,
      lastSeen: seen.map { Timestamp.text(seconds: $0) },
      silent: presence.state.isSilent ? true : nil, focus: presence.state.focus)
  }

  /// Returns the apps for which a device is registered, in the order of their topics.
  private func topics(of listed: ListedDevice) -> [DeviceRecord.Registrations] {
    let now = clock.milliseconds()
    var environments: [String: Set<String>] = [:]
    for (registration, app) in listed.registrations where !registration.isExpired(at: now) {
      environments[app.topic, default: []].insert(registration.environment.rawValue)
    }
    return environments.map { .init(topic: $0, environments: $1.sorted()) }.sorted { $0.topic < $1.topic }
  }

  /// Returns the list entry of a user.
  func record(_ person: Person) -> PersonRecord {
    let devices = registrations.devices(of: person.id).compactMap { registrations.device($0)?.name }
    return PersonRecord(name: person.name, devices: devices.sorted())
  }
}

extension Response {
  /// Creates a response with a JSON array, one row per line.
  init<Row>(rows: [Row], _ append: (Row, inout [UInt8]) -> Void) {
    self.init(parts: [Response.rows(rows, append)])
  }

  /// Creates a response with a JSON array, one row per line.
  init(rows: [some Encodable]) { self.init(rows: rows) { $1 += controlJSON($0) } }

  /// Creates a response with a JSON array of the rows of all parts.
  fileprivate init(parts: [[UInt8]]) {
    var body: [UInt8] = []
    body.reserveCapacity(parts.reduce(2) { $0 + $1.count + 2 })
    body.append(UInt8(ascii: "["))
    for part in parts where !part.isEmpty {
      if body.count > 1 { body += ",\n".utf8 }
      body += part
    }
    body.append(UInt8(ascii: "]"))
    self.init(status: 200, body: body)
  }

  /// Returns rows of JSON, one per line.
  fileprivate static func rows<Row>(_ rows: [Row], _ append: (Row, inout [UInt8]) -> Void) -> [UInt8] {
    var bytes: [UInt8] = []
    for row in rows {
      if !bytes.isEmpty { bytes += ",\n".utf8 }
      append(row, &bytes)
    }
    return bytes
  }
}
