/// A scheduled push as lists show it.
package struct ScheduledRecord: Codable, Sendable {
  /// The `apns-id`.
  package var id: String
  /// The scheduled time of delivery, RFC 3339, UTC.
  package var at: String
  package var device: String?
  package var topic: String?
  /// The time at which the push was accepted, RFC 3339, UTC.
  package var accepted: String
  /// The position in the list, for reading on.
  package var place: String

  package init(id: String, at: String, device: String?, topic: String?, accepted: String, place: String) {
    (self.id, self.at, self.device, self.topic) = (id, at, device, topic)
    (self.accepted, self.place) = (accepted, place)
  }
}
