package import PushPolicy

/// A request to add or change an app.
package struct AppRequest: Codable, Sendable {
  package var topic: String
  package var name: String
  /// One emoji or two letters; nil: unchanged, or the initials of the name.
  package var icon: String?
  /// `enforce` or `report`; nil: unchanged, or `enforce`.
  package var policyMode: String?
  /// True if payloads that violate the schema of `aps` are refused; nil: unchanged, or false.
  package var strict: Bool?
  /// `off`, `report`, `hold` or `refuse`; nil: unchanged, or `refuse`.
  package var ads: String?
  /// The team whose keys may push to the app; nil: unchanged, or the only team.
  package var team: String?
  /// `quiet` if new categories start quiet, or `show`; nil: unchanged, or `show`.
  package var newCategories: String?

  package init(
    topic: String, name: String, icon: String?, policyMode: String?, strict: Bool? = nil, ads: String? = nil,
    team: String? = nil, newCategories: String? = nil
  ) {
    self.topic = topic
    self.name = name
    self.icon = icon
    self.policyMode = policyMode
    self.strict = strict
    self.ads = ads
    self.team = team
    self.newCategories = newCategories
  }

  package enum CodingKeys: String, CodingKey {
    case topic, name, icon, strict, ads
    case policyMode = "policy_mode"
    case team = "team_id"
    case newCategories = "new_categories"
  }
}

/// A notification category of an app with the actions that its alerts offer.
package struct CategoryRecord: Codable, Sendable {
  /// The `category` of payloads.
  package var category: String
  package var actions: [AlertAction]
  /// In a request: the time in seconds after which the category expires, as for a question; nil: never.
  package var validSeconds: Int?

  package init(category: String, actions: [AlertAction], validSeconds: Int? = nil) {
    (self.category, self.actions, self.validSeconds) = (category, actions, validSeconds)
  }

  enum CodingKeys: String, CodingKey {
    case category, actions
    case validSeconds = "valid_seconds"
  }
}

/// A user's report of advertising as a device sends it.
package struct AdReportRequest: Codable, Sendable {
  /// The `apns-id`.
  package var id: String
  /// The app's topic.
  package var topic: String
  /// The text that the device showed.
  package var text: String?

  package init(id: String, topic: String, text: String?) {
    self.id = id
    self.topic = topic
    self.text = text
  }
}

/// A user's report of advertising as commands print it.
package struct AdReportRecord: Codable, Sendable {
  /// Its number in the list, for reading on; nil from a gateway that sends none.
  package var number: Int64?
  /// The time of the report, RFC 3339, UTC.
  package var at: String
  package var device: String?
  package var topic: String?
  /// The `apns-id`.
  package var id: String
  /// The text that the device showed.
  package var text: String?
  /// The detector's current verdict on the text: `pass`, `hold` or `refuse`.
  package var outcome: String?
  /// The review by an administrator, only for administrators: `right` if the push was advertising, or `wrong`; nil for none.
  package var review: String?

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

/// The review of a report of advertising.
package struct AdReviewRequest: Codable, Sendable {
  /// `right` if the push was advertising, or `wrong`; nil removes the review.
  package var review: String?

  package init(review: String?) { self.review = review }
}
