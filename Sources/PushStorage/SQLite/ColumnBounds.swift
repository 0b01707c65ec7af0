import PushCore

/// What numbers of the databases may be. Whoever reads a row refuses others, so that all who come after can add and
/// multiply what they are given.
package enum ColumnBounds {
  /// Seconds since 1970.
  package static let seconds: ClosedRange<Int64> = 0...Limits.maximumTime
  /// Milliseconds since 1970.
  package static let milliseconds: ClosedRange<Int64> = 0...(Limits.maximumTime * 1000)
  /// The end of a certificate, in seconds since 1970: whoever issued it, it may have ended before.
  package static let certificateEnd: ClosedRange<Int64> = -Limits.maximumTime...Limits.maximumTime
  /// The number of a push, a message or a row of the mailbox.
  package static let number: ClosedRange<Int64> = 1...Limits.maximumNumber
  /// The number up to which something is done, and 0 before the first.
  package static let progress: ClosedRange<Int64> = 0...Limits.maximumNumber
  /// Identifies an app: ``MailboxIndex`` has four bytes for it.
  package static let app: ClosedRange<Int64> = 0...Int64(UInt32.max)
  /// What stands for a group (``GroupAddress``).
  package static let address: ClosedRange<Int64> = -Limits.maximumNumber...(-1)
  /// A device, or what stands for a group.
  package static let recipient: ClosedRange<Int64> = -Limits.maximumNumber...Int64.max
  /// Identifies a row of another table; 0 is a row that is not stored.
  package static let row: ClosedRange<Int64> = 0...Int64.max

  /// The range of a column of `pushgateway.sqlite`, as those who read it have it.
  package static func range(ofColumn column: String, in table: String) -> ClosedRange<Int64> {
    switch (table, column) {
    case ("mailbox", "id"), ("mailbox", "payload"), ("mailbox_payload", _), ("channel_message", "number"),
      ("scheduled", "number"), ("group_push", "number"), ("person_group", "id"), ("group_token", "person_group"),
      (_, "gap_from"), (_, "gap_to"), (_, "gap_dropped"):
      number
    case ("app", "id"), ("former_app", "id"), ("mailbox", "app"), ("scheduled", "app"),
      ("retraction", "app"), ("group_push", "app"), ("group_token", "app"):
      app
    case (_, "seq"), (_, "acknowledged"), (_, "last_seq"), (_, "last_number"), (_, "seen"): progress
    case (_, "received"), (_, "created"), (_, "deleted"), (_, "unregistered"), (_, "revoked"), (_, "at"): milliseconds
    case ("certificate", "expires"): certificateEnd
    case ("device", "last_seen"), ("administrator", "last_used"): seconds
    case ("group_push", "address"): address
    case ("scheduled", "device"): recipient
    case ("former_device", "id"): progress
    case (_, "checksum"): Int64.min...Int64.max
    // An earlier version took any time here.
    case ("token", "expires"), ("invitation", "expires"): Int64.min...Int64.max
    case (_, "expires"): seconds
    default: row
    }
  }
}
