package import PushPolicy

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
  /// The rule, the parts or the action that it is about, in words.
  package var detail: String?
  /// The same in facts; nil from a gateway that only has words.
  package var details: DeliveryDetail?
  /// The trace that the push belongs to, in the row that says so.
  package var traceID: String?
  /// The push's title and texts, a line each, where the person lets whoever asks find it by them.
  package var text: String?
  /// In a cell: the gateway that wrote the row, and whose number it has.
  package var gateway: String?

  /// What it is about, also where there are only words.
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

/// The newest rows of the delivery log that were asked for, the oldest first.
///
/// As JSON it is an array of them, but in a cell an object that says besides which gateways have not answered.
package struct LogRows: Codable, Sendable {
  /// Where the rows lie in the logs of a cell, and which are missing.
  package struct Cell: Codable, Sendable {
    /// What `before` is for the rows that come before these.
    package var before: String
    /// What `after` is for the rows that come after these.
    package var after: String
    /// The gateways that have not answered, whose rows are missing.
    package var unanswered: [String]

    package init(before: String, after: String, unanswered: [String]) {
      (self.before, self.after, self.unanswered) = (before, after, unanswered)
    }
  }

  package var rows: [LogRecord]
  /// nil from a gateway that is alone.
  package var cell: Cell?

  package init(rows: [LogRecord], cell: Cell? = nil) { (self.rows, self.cell) = (rows, cell) }

  package init(from decoder: any Decoder) throws {
    if let rows = try? decoder.singleValueContainer().decode([LogRecord].self) {
      self.init(rows: rows)
      return
    }
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(rows: try values.decode([LogRecord].self, forKey: .rows), cell: try Cell(from: decoder))
  }

  package func encode(to encoder: any Encoder) throws {
    guard let cell else {
      var value = encoder.singleValueContainer()
      return try value.encode(rows)
    }
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(rows, forKey: .rows)
    try cell.encode(to: encoder)
  }

  /// What `before` is for the rows that come before these; nil where there are none.
  package var before: String? { rows.first.map { cell?.before ?? "\($0.number)" } }

  /// What `after` is for the rows that come after these.
  package var after: String { cell?.after ?? "\(rows.last?.number ?? 0)" }

  private enum CodingKeys: String, CodingKey { case rows }
}

/// Rows of the delivery log, the oldest first, and where to read on.
package struct LogPage: Codable, Sendable {
  package var rows: [LogRecord]
  /// What the next page is after, at a gateway that is alone.
  package var next: Int64
  /// The same in a cell.
  package var position: String?
  /// In a cell: the gateways that have not answered, whose rows come later.
  package var unanswered: [String]?

  package init(rows: [LogRecord], next: Int64, position: String? = nil, unanswered: [String]? = nil) {
    (self.rows, self.next, self.position, self.unanswered) = (rows, next, position, unanswered)
  }

  /// What the next page is after, wherever it was asked for.
  package var after: String { position ?? "\(next)" }
}

/// Where so many of the newest rows of the delivery log begin.
package struct LogStart: Codable, Sendable {
  /// What the first of them is after, at a gateway that is alone.
  package var after: Int64
  /// The same in a cell, where rows up to it are those before.
  package var position: String?
  /// In a cell: the gateways that have not answered.
  package var unanswered: [String]?

  package init(after: Int64, position: String? = nil, unanswered: [String]? = nil) {
    (self.after, self.position, self.unanswered) = (after, position, unanswered)
  }

  /// What `after` is for the first of them.
  package var firstAfter: String { position ?? "\(after)" }
  /// What `before` is for the rows that come before them; nil where there are none.
  package var before: String? { position ?? (after > 0 ? "\(after + 1)" : nil) }
}
