package import PushPolicy

/// The standing of an app with its recipients, within ``Standing/Bound/days``.
package struct StandingRecord: Codable, Sendable, Equatable {
  package var topic: String
  /// The alerts that devices reported as shown.
  package var presented: Int
  /// The alerts that users opened.
  package var viewed: Int
  /// The alerts that users closed without opening them.
  package var closed: Int
  /// The pushes that users reported as advertising.
  package var reported: Int
  /// The number of users with a report.
  package var reporters: Int
  /// The times that users turned the app's marketing off.
  package var unsubscribed: Int
  /// The period in which the app's alerts go to the summary (N11), RFC 3339, UTC; nil: they do not. The sender can appeal
  /// until its end.
  package var summaryFrom: String?
  package var summaryUntil: String?
  /// The end of the exemption after an appeal, RFC 3339, UTC; nil without one.
  package var exemptUntil: String?

  package init(topic: String, _ standing: Standing) {
    self.topic = topic
    (presented, viewed, closed) = (standing.presented, standing.viewed, standing.closed)
    (reported, reporters, unsubscribed) = (standing.reported, standing.reporters, standing.unsubscribed)
  }

  package enum CodingKeys: String, CodingKey {
    case topic, presented, viewed, closed, reported, reporters, unsubscribed
    case summaryFrom = "summary_from"
    case summaryUntil = "summary_until"
    case exemptUntil = "exempt_until"
  }
}

/// A request to end the period in which an app's alerts go to the summary.
package struct AppealRequest: Codable, Sendable {
  /// The time until which the app is exempt from the rule, in seconds since 1970; nil: only earlier facts do not count.
  package var until: Int64?

  package init(until: Int64?) { self.until = until }
}
