import PushCore
import PushPolicy
import PushStorage

/// Queries of the delivery log: finds rows by the names of devices and apps, and adds these names to the rows. Erases
/// rows.
struct LogQueries: Sendable {
  let log: DeliveryLog
  let registrations: any Registrations
  let groups: Groups
  /// The connection to the other gateways, whose logs are read too.
  var cluster: (any Cluster)?
  /// The device that requests its own rows; nil: a reader of the whole log, such as a sender.
  var reader: DeviceID?

  /// A row, with the names of its device, app and gateway.
  struct Found: Sendable {
    var record: DeliveryLog.Record
    /// The name of the device, or of the group.
    var device: String?
    var app: App?
    /// The name of the gateway that wrote the row; nil for a standalone gateway.
    var gateway: String?
  }

  /// A query and the range to search.
  struct Request: Sendable {
    var query: DeliveryLog.Query
    /// Positions in the logs of a cluster, where row numbers alone are ambiguous.
    var after: LogPosition?
    var before: LogPosition?
  }

  /// The rows of one result.
  struct Rows: Sendable {
    /// In ascending order.
    var found: [Found]
    /// The start of the next page, for a standalone gateway.
    var next: Int64
    /// For a cluster: the position of the next page, the end of the newest rows, and the gateways that have not
    /// answered.
    var cluster: (position: LogPosition, end: LogPosition, unanswered: [String])?
  }

  /// Parses the values of a query: `id`, `device`, `app`, `event`, `since`, `after`, `before`, `limit`, `text`.
  func query(_ values: [String: String]) throws(RegistrationRefusal) -> DeliveryLog.Query {
    func invalid(_ words: String) -> RegistrationRefusal { RegistrationRefusal(kind: .invalid, description: words) }
    var query = DeliveryLog.Query()
    if let text = values["id"] {
      guard let id = APNSID(text) else {
        throw invalid("invalid id \"\(text)\": expected a UUID, the apns-id or the apns-unique-id")
      }
      query.id = id
    }
    if let name = values["device"] { query.device = try device(named: name) }
    if let topic = values["app"] { query.app = try registrations.app(topic: topic).id }
    if let names = values["event"] {
      var events: Set<DeliveryEvent> = []
      for name in names.split(separator: ",") {
        guard let event = DeliveryEvent(rawValue: String(name)) else {
          let known = DeliveryEvent.allCases.map(\.rawValue).joined(separator: ", ")
          throw invalid("unknown event \"\(name)\": expected one of \(known)")
        }
        events.insert(event)
      }
      query.events = events
    }
    if let text = values["since"] {
      guard let since = Int64(text) else { throw invalid("invalid since: expected milliseconds since 1970") }
      query.since = since
    }
    if let text = values["text"] {
      guard !text.isEmpty else { throw invalid("invalid text: expected words of the title or the texts of a push") }
      query.text = text
      // Only these rows have a text.
      query.events = query.events?.intersection([.transmitted]) ?? [.transmitted]
    }
    query.textAccess = registrations.textAccess(reader)
    query.after = values["after"].flatMap(Int64.init)
    query.before = values["before"].flatMap(Int64.init)
    query.limit = min(Limits.maximumLogPage, max(1, values["limit"].flatMap(Int.init) ?? query.limit))
    return query
  }

  /// Parses the values of a query with positions: `after` and `before` are numbers, or positions that a cluster
  /// returned.
  func request(_ values: [String: String]) throws(RegistrationRefusal) -> Request {
    Request(
      query: try query(values), after: position(values["after"]), before: position(values["before"], isBefore: true))
  }

  /// Returns a position; a number alone refers to a row of this gateway.
  private func position(_ text: String?, isBefore: Bool = false) -> LogPosition? {
    guard let text, let cluster else { return nil }
    guard let number = Int64(text) else { return LogPosition(text: text) }
    return LogPosition([cluster.gateway.id: max(0, min(number, .max - 1) - (isBefore ? 1 : 0))])
  }

  private var merged: MergedLog? { cluster.map { MergedLog(log: log, cluster: $0, reader: reader) } }

  /// Returns a device, or the address of a group.
  private func device(named name: String) throws(RegistrationRefusal) -> DeviceID {
    if let group = groups.find(name) {
      return groups.registrations(of: group).first?.device ?? group.address(in: .development)
    }
    return try registrations.device(named: name).id
  }

  /// Returns the newest matching rows in ascending order.
  func newest(_ request: Request) async throws -> Rows {
    var query = request.query
    let merged = merged
    if let id = query.id {
      let push: (id: APNSID, device: DeviceID?)?
      var unanswered: [String]?
      if let merged {
        (push, unanswered) = try await merged.push(named: id, atMost: query.maximumReadSize)
      } else {
        push = try await log.push(named: id, atMost: query.maximumReadSize)
      }
      let nothing = Rows(found: [], next: 0, cluster: unanswered.map { (request.before ?? .init(), .init(), $0) })
      guard let push else { return nothing }
      // A unique id identifies one push, even if its sender used the `apns-id` for several devices. The unique id of
      // a push to a group identifies the copies for all its members.
      let device = push.device.flatMap { $0.isGroup ? nil : $0 }
      if let device, query.device.map({ $0 != device }) ?? false { return nothing }
      (query.id, query.device) = (push.id, query.device ?? device)
    }
    guard let merged else { return Rows(found: try await log.rows(query).map { found($0) }, next: 0) }
    return rows(try await merged.newest(query, before: request.before))
  }

  /// Returns the oldest matching rows after a position, and the position of the next page. An id is an `apns-id`
  /// here.
  ///
  /// - Parameter time: the maximum time to wait for the first row; zero: no wait.
  /// - Returns: nil if too many requests are waiting already.
  func page(_ request: Request, within time: Duration) async throws -> Rows? {
    if let merged {
      guard time > .zero else { return rows(try await merged.next(request.query, after: request.after)) }
      return try await merged.next(request.query, after: request.after, within: time).map(rows)
    }
    let page: (records: [DeliveryLog.Record], next: Int64)? =
      time > .zero
      ? try await log.nextPage(request.query, for: reader, within: time) : try await log.page(request.query)
    return page.map { Rows(found: $0.records.map { found($0) }, next: $0.next) }
  }

  /// Returns the position before the newest rows, as many as ``DeliveryLog/Query/limit``.
  func start(_ request: Request) async throws -> Rows {
    guard let merged else { return Rows(found: [], next: try await log.start(of: request.query)) }
    return rows(try await merged.newest(request.query, before: request.before))
  }

  /// Erases the rows of devices from the logs of all reachable gateways.
  func eraseRows(of devices: Set<DeviceID>) async throws {
    guard let merged else { return try await log.erase(devices) }
    try await merged.erase(devices, onlyTexts: false)
  }

  /// Erases the texts of devices from the logs of all reachable gateways; their rows stay.
  func eraseTexts(of devices: Set<DeviceID>) async throws {
    guard let merged else { return try await log.eraseTexts(of: devices) }
    try await merged.erase(devices, onlyTexts: true)
  }

  /// Returns the time that a request waits for rows: `seconds` of its query.
  static func wait(_ values: [String: String]) throws(Problem) -> Duration {
    let seconds = values["seconds"].flatMap(Double.init) ?? 0
    guard (0...Double(Limits.maximumLogWaitTime)).contains(seconds) else {
      throw .badRequest("invalid seconds: expected 0 to \(Limits.maximumLogWaitTime) for a request")
    }
    return .seconds(seconds)
  }

  static let tooManyWaits = Problem(
    503, "Service Unavailable",
    """
    too many requests wait for the delivery log (\(Limits.maximumDeviceLogWaits) for each device, \(Limits.maximumLogWaits) in \
    all): ask without seconds, or try again
    """)

  private func name(of device: DeviceID) -> String? {
    device.isGroup ? groups.group(at: device)?.name : registrations.device(device)?.name
  }

  private func rows(_ rows: MergedLog.Rows) -> Rows {
    Rows(
      found: rows.records.map { found($0.record, at: $0.gateway) }, next: 0,
      cluster: (rows.position, rows.end, rows.unanswered))
  }

  func found(_ record: DeliveryLog.Record, at gateway: String? = nil) -> Found {
    Found(
      record: record, device: record.row.device.flatMap(name),
      app: record.row.app.flatMap { $0 == App.summary.id ? App.summary : registrations.app($0) }, gateway: gateway)
  }
}
