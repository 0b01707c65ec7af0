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

  /// A row, and what it names.
  struct Found: Sendable {
    var record: DeliveryLog.Record
    /// The name of the device, or of the group.
    var device: String?
    var app: App?
  }

  /// What the values of a query ask for: `id`, `device`, `app`, `event`, `since`, `after`, `before`, `limit`, `text`.
  func query(_ values: [String: String]) throws(RegistrationRefusal) -> DeliveryLog.Query {
    func invalid(_ words: String) -> RegistrationRefusal { RegistrationRefusal(kind: .invalid, description: words) }
    var query = DeliveryLog.Query()
    if let text = values["id"] {
      guard let id = APNSID(text) else { throw invalid("\(text) is no apns-id and no apns-unique-id: a UUID") }
      query.id = id
    }
    if let name = values["device"] { query.device = try device(named: name) }
    if let topic = values["app"] { query.app = try registrations.app(topic: topic).id }
    if let names = values["event"] {
      var events: Set<DeliveryEvent> = []
      for name in names.split(separator: ",") {
        guard let event = DeliveryEvent(rawValue: String(name)) else {
          let known = DeliveryEvent.allCases.map(\.rawValue).joined(separator: ", ")
          throw invalid("\(name) is no event; there are \(known)")
        }
        events.insert(event)
      }
      query.events = events
    }
    if let text = values["since"] {
      guard let since = Int64(text) else { throw invalid("since is in milliseconds since 1970") }
      query.since = since
    }
    if let text = values["text"] {
      guard !text.isEmpty else { throw invalid("text is what the title or the texts of a push hold") }
      query.text = text
      // The rows that have one.
      query.events = query.events?.intersection([.transmitted]) ?? [.transmitted]
    }
    query.readsTexts = { [registrations, reader] device in
      switch registrations.preferences(of: device).logText {
      case .off: false
      case .devices: device == reader
      case .senders: reader == nil || device == reader
      }
    }
    query.after = values["after"].flatMap(Int64.init)
    query.before = values["before"].flatMap(Int64.init)
    query.limit = min(Limits.maximumLogPage, max(1, values["limit"].flatMap(Int.init) ?? query.limit))
    return query
  }

  /// A device, or what stands for a group.
  private func device(named name: String) throws(RegistrationRefusal) -> DeviceID {
    if let groups, let group = groups.find(name) {
      return groups.registrations(of: group).first?.device ?? group.address(in: .development)
    }
    return try registrations.device(named: name).id
  }

  /// The newest rows that match, oldest first.
  func callAsFunction(_ query: DeliveryLog.Query) async throws -> [Found] {
    var query = query
    if let id = query.id {
      guard let push = try await log.push(named: id, atMost: query.maximumReadSize) else { return [] }
      // Who looks a push up by its unique id means that one, also where its sender used an id for several devices.
      // A group's own is the push to all of them.
      let device = push.device.flatMap { $0.isGroup ? nil : $0 }
      if let device, query.device.map({ $0 != device }) ?? false { return [] }
      (query.id, query.device) = (push.id, query.device ?? device)
    }
    return try await log.rows(query).map(found)
  }

  /// The oldest rows after a number that match, and where to read on. An id is an `apns-id` here.
  ///
  /// - Parameter time: how long it waits for the first one; zero: not at all.
  /// - Returns: nil when too many wait already.
  func page(_ query: DeliveryLog.Query, within time: Duration) async throws -> (rows: [Found], next: Int64)? {
    let page = time > .zero ? try await log.nextPage(query, within: time) : try await log.page(query)
    return page.map { ($0.records.map(found), $0.next) }
  }

  /// How long a request waits for rows: `seconds` of its query.
  static func wait(_ values: [String: String]) throws(Problem) -> Duration {
    let seconds = values["seconds"].flatMap(Double.init) ?? 0
    guard (0...Double(Limits.maximumLogWaitTime)).contains(seconds) else {
      throw .badRequest("one request waits for 0 to \(Limits.maximumLogWaitTime) seconds: send it again then")
    }
    return .seconds(seconds)
  }

  static let tooManyWaits = Problem(
    503, "Service Unavailable", "\(Limits.maximumLogWaits) requests wait for the delivery log already: try again")

  private func name(of device: DeviceID) -> String? {
    device.isGroup ? groups?.group(at: device)?.name : registrations.device(device)?.name
  }

  private func found(_ record: DeliveryLog.Record) -> Found {
    Found(
      record: record, device: record.row.device.flatMap(name),
      app: record.row.app.flatMap { $0 == App.summary.id ? App.summary : registrations.app($0) })
  }
}
