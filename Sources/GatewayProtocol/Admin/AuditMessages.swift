/// Something that an administrator asked of a gateway.
package struct AuditRecord: Codable, Sendable {
  /// Increasing.
  package var number: Int64
  /// RFC 3339, UTC.
  package var at: String
  package var method: String
  package var path: String
  /// The beginning of what was sent with it.
  package var body: String?
  /// That of the answer; nil when the gateway ended before it answered.
  package var status: Int?
  /// Who asked: the user of the admin socket, or a name with the kind of credential and the role; nil from an earlier version.
  package var who: String?

  package init(number: Int64, at: String, method: String, path: String, body: String?, status: Int?, who: String?) {
    self.who = who
    (self.number, self.at, self.method) = (number, at, method)
    (self.path, self.body, self.status) = (path, body, status)
  }
}

/// What a database took on the disk, in bytes, before and after it was compacted.
package struct CompactRecord: Codable, Sendable {
  package var before: Int
  package var after: Int

  package init(before: Int, after: Int) { (self.before, self.after) = (before, after) }
}
