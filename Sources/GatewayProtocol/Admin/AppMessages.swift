package import PushPolicy

/// A request for an app, or for a change of one.
package struct AppRequest: Codable, Sendable {
  package var topic: String
  package var name: String
  /// One emoji or two letters; nil: as it was, or the name's initials.
  package var icon: String?
  /// `enforce` or `report`; nil: as it was, or `enforce`.
  package var policyMode: String?
  /// Whether payloads that break the schema of `aps` are refused; nil: as it was, or not.
  package var strict: Bool?
  /// `off`, `report`, `hold` or `refuse`; nil: as it was, or `refuse`.
  package var ads: String?
  /// The team whose keys may push to it; nil: as it was, or the only one that there is.
  package var team: String?

  package init(
    topic: String, name: String, icon: String?, policyMode: String?, strict: Bool? = nil, ads: String? = nil,
    team: String? = nil
  ) {
    self.topic = topic
    self.name = name
    self.icon = icon
    self.policyMode = policyMode
    self.strict = strict
    self.ads = ads
    self.team = team
  }

  package enum CodingKeys: String, CodingKey {
    case topic, name, icon, strict, ads
    case policyMode = "policy_mode"
    case team = "team_id"
  }
}

/// An event type of an app, and what its alerts offer.
package struct CategoryRecord: Codable, Sendable {
  /// As payloads name it.
  package var category: String
  package var actions: [AlertAction]
  /// In a request: after how many seconds the category ends, as a question's does; nil: it stays.
  package var validSeconds: Int?

  package init(category: String, actions: [AlertAction], validSeconds: Int? = nil) {
    (self.category, self.actions, self.validSeconds) = (category, actions, validSeconds)
  }

  enum CodingKeys: String, CodingKey {
    case category, actions
    case validSeconds = "valid_seconds"
  }
}

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
  /// Its place in the list, for reading on; nil from a gateway that says none.
  package var number: Int64?
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
    number: Int64? = nil, at: String, device: String? = nil, topic: String? = nil, id: String, text: String? = nil,
    outcome: String? = nil
  ) {
    self.number = number
    self.at = at
    self.device = device
    self.topic = topic
    self.id = id
    self.text = text
    self.outcome = outcome
  }
}
