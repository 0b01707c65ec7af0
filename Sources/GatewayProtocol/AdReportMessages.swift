/// A person's report as a device sends it.
package struct AdReportRequest: Codable, Sendable {
  /// The `apns-id`.
  package var id: String
  /// The app's topic.
  package var topic: String
  /// What the device showed.
  package var text: String?

  package init(id: String, topic: String, text: String?) {
    self.id = id
    self.topic = topic
    self.text = text
  }
}

/// A person's report as commands print it.
package struct AdReportRecord: Codable, Sendable {
  /// RFC 3339, UTC.
  package var at: String
  package var device: String?
  package var topic: String?
  /// The `apns-id`.
  package var id: String
  /// What the device showed.
  package var text: String?
  /// What the detector makes of the text now: `pass`, `hold` or `refuse`.
  package var outcome: String?

  package init(
    at: String, device: String? = nil, topic: String? = nil, id: String, text: String? = nil, outcome: String? = nil
  ) {
    self.at = at
    self.device = device
    self.topic = topic
    self.id = id
    self.text = text
    self.outcome = outcome
  }
}
