import PushCore
import PushPolicy
import PushStorage

/// Finds rows of the delivery log by the names that people know, and names what they are about.
struct LogSearch: Sendable {
  let log: DeliveryLog
  let registrations: any Registrations
  /// Who asks: a device, of its own pushes; nil: whoever may read all of the log, as senders do.
  var reader: DeviceID?
  var groups: Groups?
  /// What joins this gateway to others, whose logs are read, too.
  var cell: (any GatewayCell)?

  /// A row, and what it names.
  struct Found: Sendable {
    var record: DeliveryLog.Record
    /// The name of the device, or of the group.
    var device: String?
    var app: App?
    /// The gateway that wrote it, by name; nil for one that is alone.
    var gateway: String?
  }

  /// What is looked for, and where.
  struct Request: Sendable {
    var query: DeliveryLog.Query
    /// Places in the logs of a cell, in which numbers say nothing.
    var after: LogPosition?
    var before: LogPosition?
  }

  /// Rows that were found.
  struct Rows: Sendable {
    /// The oldest first.
    var found: [Found]
    /// Where the next page begins; of a gateway that is alone.
    var next: Int64
    /// In a cell: where to read on, where its end was, and which gateways have not answered.
    var cell: (position: LogPosition, end: LogPosition, unanswered: [String])?
  }

  /// What the values of a query ask for: `id`, `device`, `app`, `event`, `since`, `after`, `before`, `limit`, `text`.
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
      // The rows that have one.
      query.events = query.events?.intersection([.transmitted]) ?? [.transmitted]
    }
    query.textAccess = registrations.textAccess(reader)
    query.after = values["after"].flatMap(Int64.init)
    query.before = values["before"].flatMap(Int64.init)
    query.limit = min(Limits.maximumLogPage, max(1, values["limit"].flatMap(Int.init) ?? query.limit))
    return query
  }

  /// The same with places: `after` and `before` are numbers, or what a cell said.
  func wanted(_ values: [String: String]) throws(RegistrationRefusal) -> Request {
    Request(
      query: try query(values), after: position(values["after"]), before: position(values["before"], isBefore: true))
  }

  /// A number alone is that of a row of the gateway that is asked.
  private func position(_ text: String?, isBefore: Bool = false) -> LogPosition? {
    guard let text, let cell else { return nil }
    guard let number = Int64(text) else { return LogPosition(text: text) }
    return LogPosition([cell.gateway.id: max(0, min(number, .max - 1) - (isBefore ? 1 : 0))])
  }

  private var merged: MergedLog? { cell.map { MergedLog(log: log, cell: $0, reader: reader) } }

  /// A device, or what stands for a group.
  private func device(named name: String) throws(RegistrationRefusal) -> DeviceID {
    if let groups, let group = groups.find(name) {
      return groups.registrations(of: group).first?.device ?? group.address(in: .development)
    }
    return try registrations.device(named: name).id
  }

  /// The newest rows that match, oldest first.
  func callAsFunction(_ wanted: Request) async throws -> Rows {
    var query = wanted.query
    let merged = merged
    if let id = query.id {
      let push: (id: APNSID, device: DeviceID?)?
      var unanswered: [String]?
      if let merged {
        (push, unanswered) = try await merged.push(named: id, atMost: query.maximumReadSize)
      } else {
        push = try await log.push(named: id, atMost: query.maximumReadSize)
      }
      let nothing = Rows(found: [], next: 0, cell: unanswered.map { (wanted.before ?? .init(), .init(), $0) })
      guard let push else { return nothing }
      // Who looks a push up by its unique id means that one, also where its sender used an id for several devices.
      // A group's own is the push to all of them.
      let device = push.device.flatMap { $0.isGroup ? nil : $0 }
      if let device, query.device.map({ $0 != device }) ?? false { return nothing }
      (query.id, query.device) = (push.id, query.device ?? device)
    }
    guard let merged else { return Rows(found: try await log.rows(query).map { found($0) }, next: 0) }
    return rows(try await merged.newest(query, before: wanted.before))
  }

  /// The oldest rows after a place that match, and where to read on. An id is an `apns-id` here.
  ///
  /// - Parameter time: how long it waits for the first one; zero: not at all.
  /// - Returns: nil when too many wait already.
  func page(_ wanted: Request, within time: Duration) async throws -> Rows? {
    if let merged {
      guard time > .zero else { return rows(try await merged.next(wanted.query, after: wanted.after)) }
      return try await merged.next(wanted.query, after: wanted.after, within: time).map(rows)
    }
    let page =
      time > .zero ? try await log.nextPage(wanted.query, for: reader, within: time) : try await log.page(wanted.query)
    return page.map { Rows(found: $0.records.map { found($0) }, next: $0.next) }
  }

  /// Where so many of the newest rows begin as ``DeliveryLog/Query/limit`` says.
  func start(_ wanted: Request) async throws -> Rows {
    guard let merged else { return Rows(found: [], next: try await log.start(of: wanted.query)) }
    return rows(try await merged.newest(wanted.query, before: wanted.before))
  }

  /// How long a request waits for rows: `seconds` of its query.
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
    device.isGroup ? groups?.group(at: device)?.name : registrations.device(device)?.name
  }

  private func rows(_ rows: MergedLog.Rows) -> Rows {
    Rows(
      found: rows.records.map { found($0.record, at: $0.gateway) }, next: 0,
      cell: (rows.position, rows.end, rows.unanswered))
  }

  private func found(_ record: DeliveryLog.Record, at gateway: String? = nil) -> Found {
    Found(
      record: record, device: record.row.device.flatMap(name),
      app: record.row.app.flatMap { $0 == App.summary.id ? App.summary : registrations.app($0) }, gateway: gateway)
  }
}
