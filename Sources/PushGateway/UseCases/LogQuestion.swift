import PushCore
import PushPolicy
import PushStorage

/// What a gateway asks of another one's delivery log.
struct LogQuestion: Codable, Sendable {
  enum Kind: String, Codable, Sendable {
    /// The newest rows.
    case newest
    /// The oldest rows after a number.
    case next
    /// Which push an id names, as a row that has its `apns-id` and its device.
    case named
  }

  var kind: Kind
  var id: String?
  /// Numbers of rows of what all gateways share.
  var device: Int64?
  var app: Int64?
  var events: [String]?
  var since: Int64?
  var after: Int64?
  var before: Int64?
  var text: String?
  /// The device that asks for its own rows; nil: whoever may read all of the log.
  var reader: Int64?
  var limit: Int
  var maximumReadSize: Int?
  /// How many seconds the gateway that asks goes on waiting for rows, of which it wants to be told.
  var waits: Double?

  /// So many rows are asked for at once.
  static let maximumLimit = 1_000

  init(_ kind: Kind, _ query: DeliveryLog.Query, reader: DeviceID?, limit: Int) {
    (self.kind, self.limit, self.reader) = (kind, min(limit, LogQuestion.maximumLimit), reader?.row)
    (id, device, app) = (query.id?.description, query.device?.row, query.app?.row)
    events = query.events?.map(\.rawValue).sorted()
    (since, after, before, text) = (query.since, query.after, query.before, query.text)
    maximumReadSize = query.maximumReadSize == .max ? nil : query.maximumReadSize
  }

  /// The query at the gateway that was asked, which believes none of it; nil when it is none.
  func query(_ textAccess: @escaping @Sendable (DeviceID) -> TextAccess) -> DeliveryLog.Query? {
    let id = id.map { APNSID($0) }
    if case .some(.none) = id { return nil }
    var query = DeliveryLog.Query(
      id: id ?? nil, device: device.map { DeviceID(row: $0) }, app: app.map { AppID(row: $0) },
      // An event that this version does not know is in none of its rows.
      events: events.map { Set($0.compactMap(DeliveryEvent.init)) }, since: since, after: after, before: before,
      limit: max(1, min(limit, LogQuestion.maximumLimit)), maximumReadSize: max(0, maximumReadSize ?? .max))
    query.text = text
    query.textAccess = textAccess
    return query
  }
}
