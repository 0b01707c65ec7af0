/// One row of the delivery log as commands print it.
package struct LogRecord: Codable, Sendable {
  /// Its place in the log, for reading on.
  package var number: Int64
  /// RFC 3339, UTC.
  package var at: String
  /// What happened (design §1).
  package var event: String
  /// The `apns-id`.
  package var id: String
  /// The `apns-unique-id`, in the row of acceptance.
  package var uniqueID: String?
  /// The status that the real service's console has for it, if it has one (reference §9.1).
  package var status: String?
  package var device: String?
  package var topic: String?
  /// The rule, the parts or the action that it is about.
  package var detail: String?

  package init(
    number: Int64, at: String, event: String, id: String, uniqueID: String? = nil, status: String? = nil,
    device: String? = nil, topic: String? = nil, detail: String? = nil
  ) {
    self.number = number
    self.at = at
    self.event = event
    self.id = id
    self.uniqueID = uniqueID
    self.status = status
    self.device = device
    self.topic = topic
    self.detail = detail
  }

  package enum CodingKeys: String, CodingKey {
    case number, at, event, id, status, device, topic, detail
    case uniqueID = "unique_id"
  }
}
