/// A request of an administrator to a gateway.
package struct AuditRecord: Codable, Sendable {
  /// The number of the record, increasing.
  package var number: Int64
  /// The time of the request, RFC 3339, UTC.
  package var at: String
  package var method: String
  package var path: String
  /// The beginning of the request's body.
  package var body: String?
  /// The status of the response; nil if the gateway ended before the status was on disk.
  package var status: Int?
  /// The user of the admin socket, or a name with the kind of credential and the role; nil from an earlier version.
  package var who: String?

  package init(number: Int64, at: String, method: String, path: String, body: String?, status: Int?, who: String?) {
    self.who = who
    (self.number, self.at, self.method) = (number, at, method)
    (self.path, self.body, self.status) = (path, body, status)
  }
}

/// The size of a database on disk in bytes, before and after it was compacted.
package struct CompactRecord: Codable, Sendable {
  package var before: Int
  package var after: Int

  package init(before: Int, after: Int) { (self.before, self.after) = (before, after) }
}
