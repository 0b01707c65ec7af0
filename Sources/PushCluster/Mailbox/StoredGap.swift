/// A ``MailboxGap`` as the stream has it.
struct StoredGap: Codable {
  var from: UInt64
  var to: UInt64
  var dropped: Int
}
