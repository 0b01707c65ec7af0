/// A request to expect regular heartbeats of a sender.
package struct ExpectationRequest: Codable, Sendable {
  /// The name of the sender.
  package var sender: String
  /// The interval in seconds.
  package var every: Int
  /// The additional time in seconds before a heartbeat is late.
  package var grace: Int

  package init(sender: String, every: Int, grace: Int) {
    (self.sender, self.every, self.grace) = (sender, every, grace)
  }
}

/// An expectation as lists show it.
package struct ExpectationRecord: Codable, Sendable {
  /// The name of the sender.
  package var sender: String
  /// The interval in seconds.
  package var every: Int
  /// The additional time in seconds before a heartbeat is late.
  package var grace: Int
  /// The time of the last heartbeat, RFC 3339, UTC; nil: none yet.
  package var last: String?
  /// The time from which the next heartbeat is late, RFC 3339, UTC.
  package var due: String
  /// True if the heartbeat is late.
  package var late: Bool

  package init(sender: String, every: Int, grace: Int, last: String?, due: String, late: Bool) {
    (self.sender, self.every, self.grace) = (sender, every, grace)
    (self.last, self.due, self.late) = (last, due, late)
  }
}
