import PushCore

/// The ranges of the integer columns of the databases. Code that reads a row refuses values out of range, so that all
/// later code can add and multiply them without overflow.
package enum ColumnBounds {
  /// Seconds since 1970.
  package static let seconds: ClosedRange<Int64> = 0...Limits.maximumTime
  /// Milliseconds since 1970.
  package static let milliseconds: ClosedRange<Int64> = 0...(Limits.maximumTime * 1000)
  /// The end of a certificate's validity, in seconds since 1970. It can be before 1970, because any CA can issue the
  /// certificate.
  package static let certificateEnd: ClosedRange<Int64> = -Limits.maximumTime...Limits.maximumTime
  /// The number of a push, a message or a row of the mailbox.
  package static let number: ClosedRange<Int64> = 1...Limits.maximumNumber
  /// The number up to which something is done; 0 before the first.
  package static let progress: ClosedRange<Int64> = 0...Limits.maximumNumber
  /// The number of messages in a minute of a sender.
  package static let messageRate: ClosedRange<Int64> = 1...Int64(Limits.maximumMessageRate)
  /// The interval of an expected heartbeat, and its grace, in seconds.
  package static let heartbeatTime: ClosedRange<Int64> = 0...Int64(Limits.maximumHeartbeatTime)
  /// The time in which equal messages of a sender become one, in seconds.
  package static let combineTime: ClosedRange<Int64> = 1...Int64(Limits.maximumCombineTime)
  /// The size of an attachment in bytes.
  package static let attachmentSize: ClosedRange<Int64> = 0...Int64(Limits.maximumAttachmentSize)
  /// The row of an app: ``MailboxIndex`` has four bytes for it.
  package static let app: ClosedRange<Int64> = 0...Int64(UInt32.max)
  /// The address of a group (``GroupAddress``).
  package static let address: ClosedRange<Int64> = -Limits.maximumNumber...(-1)
  /// A device, or the address of a group.
  package static let recipient: ClosedRange<Int64> = -Limits.maximumNumber...Int64.max
  /// A reference to a row of another table; 0 is a row that is not stored.
  package static let row: ClosedRange<Int64> = 0...Int64.max

  /// Returns the range of a column of `pushgateway.sqlite` that its readers accept.
  package static func range(ofColumn column: String, in table: String) -> ClosedRange<Int64> {
    switch (table, column) {
    case ("mailbox", "id"), ("mailbox", "seq"), ("mailbox", "payload"), ("mailbox_payload", _),
      ("channel_message", "number"),
      ("scheduled", "number"), ("group_push", "number"), ("person_group", "id"), ("group_token", "person_group"),
      (_, "gap_from"), (_, "gap_to"), (_, "gap_dropped"):
      number
    case ("app", "id"), ("former_app", "id"), ("mailbox", "app"), ("scheduled", "app"),
      ("retraction", "app"), ("group_push", "app"), ("group_token", "app"), ("sender", "app"),
      ("web_push_endpoint", "app"), ("app_day", "app"), ("attachment", "app"):
      app
    case ("app_day", _): progress
    case ("app", "summary_from"), ("app", "counted_from"): seconds
    case (_, "seq"), (_, "acknowledged"), (_, "last_seq"), (_, "last_number"), (_, "seen"): progress
    case (_, "received"), (_, "created"), (_, "deleted"), (_, "unregistered"), (_, "revoked"), (_, "at"): milliseconds
    case (_, "removed"): milliseconds
    case ("certificate", "expires"): certificateEnd
    case ("device", "last_seen"), ("administrator", "last_used"), ("sender", "last_used"): seconds
    case ("sender", "rate"): messageRate
    case ("sender", "combine"): combineTime
    case ("expectation", "every"), ("expectation", "grace"): heartbeatTime
    case ("expectation", "beat"), ("expectation", "due"): milliseconds
    case ("expectation", "late"): progress
    case ("event_target", "rotated"), ("event_target", "disabled"): milliseconds
    case ("group_push", "address"): address
    case ("scheduled", "device"): recipient
    case ("former_device", "id"): progress
    case (_, "checksum"): Int64.min...Int64.max
    // An earlier version accepted any time here.
    case ("token", "expires"), ("invitation", "expires"): Int64.min...Int64.max
    case (_, "expires"): seconds
    default: row
    }
  }
}
