package import PushPolicy

/// One row of the delivery log as commands print it.
package struct LogRecord: Codable, Sendable {
  /// The row's number in the log, for reading on.
  package var number: Int64
  /// The time of the event, RFC 3339, UTC.
  package var at: String
  /// The delivery event (design §1).
  package var event: String
  /// The `apns-id`; empty in a row that belongs to no push.
  package var id: String
  /// The `apns-unique-id`, in the row of the acceptance.
  package var uniqueID: String?
  /// The status that the real service's console shows for the event, if it has one (reference §9.1).
  package var status: String?
  package var device: String?
  package var topic: String?
  /// The rule, the parts or the action of the event, as text.
  package var detail: String?
  /// The same as structured data; nil from a gateway that only sends text.
  package var details: DeliveryDetail?
  /// The trace id of the push, in the row that contains it.
  package var traceID: String?
  /// The push's title and texts, a line each, if the user's preferences allow searching for them.
  package var text: String?
  /// In a cluster: the gateway that wrote the row and numbered it.
  package var gateway: String?

  /// The structured details; parsed from ``detail`` if the gateway only sent text.
  package var facts: DeliveryDetail { details ?? DeliveryDetail(words: detail ?? "", of: event) }

  package init(
    number: Int64, at: String, event: String, id: String, uniqueID: String?, status: String?, device: String?,
    topic: String?, _ details: DeliveryDetail, text: String? = nil, gateway: String? = nil
  ) {
    (self.text, self.gateway) = (text, gateway)
    (self.number, self.at, self.event, self.id, self.uniqueID) = (number, at, event, id, uniqueID)
    (self.status, self.device, self.topic) = (status, device, topic)
    let words = details.words
    detail = words.isEmpty ? nil : words
    self.details = details == .nothing ? nil : details
    if case .trace(let parent) = details { traceID = String(parent.dropFirst(3).prefix(32)) }
  }

  package enum CodingKeys: String, CodingKey {
    case number, at, event, id, status, device, topic, detail, details, text, gateway
    case uniqueID = "unique_id"
    case traceID = "trace_id"
  }
}

/// The newest matching rows of the delivery log, the oldest first.
///
/// As JSON it is an array of rows; in a cluster it is an object that also lists the gateways that have not answered.
package struct LogRows: Codable, Sendable {
  /// The positions of the rows in the logs of a cluster, and the gateways whose rows are missing.
  package struct Cluster: Codable, Sendable {
    /// The value of `before` that requests the preceding rows.
    package var before: String
    /// The value of `after` that requests the following rows.
    package var after: String
    /// The gateways that have not answered, whose rows are missing.
    package var unanswered: [String]

    package init(before: String, after: String, unanswered: [String]) {
      (self.before, self.after, self.unanswered) = (before, after, unanswered)
    }
  }

  package var rows: [LogRecord]
  /// The positions in a cluster; nil from a single gateway.
  package var cluster: Cluster?

  package init(rows: [LogRecord], cluster: Cluster? = nil) { (self.rows, self.cluster) = (rows, cluster) }

  package init(from decoder: any Decoder) throws {
    if let rows = try? decoder.singleValueContainer().decode([LogRecord].self) {
      self.init(rows: rows)
      return
    }
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(rows: try values.decode([LogRecord].self, forKey: .rows), cluster: try Cluster(from: decoder))
  }

  package func encode(to encoder: any Encoder) throws {
    guard let cluster else {
      var value = encoder.singleValueContainer()
      return try value.encode(rows)
    }
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(rows, forKey: .rows)
    try cluster.encode(to: encoder)
  }

  /// The value of `before` that requests the preceding rows; nil if there are no rows.
  package var before: String? { rows.first.map { cluster?.before ?? "\($0.number)" } }

  /// The value of `after` that requests the following rows.
  package var after: String { cluster?.after ?? "\(rows.last?.number ?? 0)" }

  private enum CodingKeys: String, CodingKey { case rows }
}

/// Rows of the delivery log, the oldest first, and the position of the next page.
package struct LogPage: Codable, Sendable {
  package var rows: [LogRecord]
  /// The value of `after` for the next page of a single gateway.
  package var next: Int64
  /// The value of `after` for the next page in a cluster.
  package var position: String?
  /// In a cluster: the gateways that have not answered, whose rows come later.
  package var unanswered: [String]?

  package init(rows: [LogRecord], next: Int64, position: String? = nil, unanswered: [String]? = nil) {
    (self.rows, self.next, self.position, self.unanswered) = (rows, next, position, unanswered)
  }

  /// The value of `after` for the next page, of a single gateway or a cluster.
  package var after: String { position ?? "\(next)" }
}

/// The position before the newest rows of the delivery log.
package struct LogStart: Codable, Sendable {
  /// The value of `after` that requests the rows from a single gateway.
  package var after: Int64
  /// The same position in a cluster; it also marks the end of the preceding rows.
  package var position: String?
  /// In a cluster: the gateways that have not answered.
  package var unanswered: [String]?

  package init(after: Int64, position: String? = nil, unanswered: [String]? = nil) {
    (self.after, self.position, self.unanswered) = (after, position, unanswered)
  }

  /// The value of `after` that requests the rows.
  package var firstAfter: String { position ?? "\(after)" }
  /// The value of `before` that requests the preceding rows; nil if there are none.
  package var before: String? { position ?? (after > 0 ? "\(after + 1)" : nil) }
}
