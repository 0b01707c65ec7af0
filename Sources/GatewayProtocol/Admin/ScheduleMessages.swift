/// A push that is to be delivered later, as it is listed.
package struct ScheduledRecord: Codable, Sendable {
  /// The `apns-id`.
  package var id: String
  /// When it is delivered, RFC 3339, UTC.
  package var at: String
  package var device: String?
  package var topic: String?
  /// When it was accepted, RFC 3339, UTC.
  package var accepted: String
  /// Where it stands, for reading on after it.
  package var place: String

  package init(id: String, at: String, device: String?, topic: String?, accepted: String, place: String) {
    (self.id, self.at, self.device, self.topic) = (id, at, device, topic)
    (self.accepted, self.place) = (accepted, place)
  }
}
