import PushCore
import PushPolicy
import PushStorage

/// A query about the delivery log of another gateway.
struct LogQuestion: Codable, Sendable {
  enum Kind: String, Codable, Sendable {
    /// The newest rows.
    case newest
    /// The oldest rows after a number.
    case next
    /// The push that an id names, as a row with its `apns-id` and its device.
    case named
  }

  var kind: Kind
  var id: String?
  /// Row numbers in the storage that all gateways share.
  var device: Int64?
  var app: Int64?
  var events: [String]?
  var since: Int64?
  var after: Int64?
  var before: Int64?
  var text: String?
  /// The device that requests its own rows; nil: a reader of the whole log.
  var reader: Int64?
  var limit: Int
  var maximumReadSize: Int?
  /// The number of seconds for which the requesting gateway waits for rows, and gets notifications of them.
  var waits: Double?

  /// The maximum number of rows in one answer.
  static let maximumLimit = 1_000

  init(_ kind: Kind, _ query: DeliveryLog.Query, reader: DeviceID?, limit: Int) {
    (self.kind, self.limit, self.reader) = (kind, min(limit, LogQuestion.maximumLimit), reader?.row)
    (id, device, app) = (query.id?.description, query.device?.row, query.app?.row)
    events = query.events?.map(\.rawValue).sorted()
    (since, after, before, text) = (query.since, query.after, query.before, query.text)
    maximumReadSize = query.maximumReadSize == .max ? nil : query.maximumReadSize
  }

  /// Returns the query for the gateway that is asked, with all values validated; nil if the id is invalid.
  func query(_ textAccess: @escaping @Sendable (DeviceID) -> TextAccess) -> DeliveryLog.Query? {
    let id = id.map { APNSID($0) }
    if case .some(.none) = id { return nil }
    var query = DeliveryLog.Query(
      id: id ?? nil, device: device.map { DeviceID(row: $0) }, app: app.map { AppID(row: $0) },
      // Events that this version does not know occur in none of its rows.
      events: events.map { Set($0.compactMap(DeliveryEvent.init)) }, since: since, after: after, before: before,
      limit: max(1, min(limit, LogQuestion.maximumLimit)), maximumReadSize: max(0, maximumReadSize ?? .max))
    query.text = text
    query.textAccess = textAccess
    return query
  }
}
