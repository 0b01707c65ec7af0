import PushStorage

/// The answer of ntfy about the account of a token. Home Assistant requests it during its setup, and requires these members.
struct NtfyAccount: Sendable, Encodable {
  /// The name of the sender.
  var username: String
  var role = "user"
  /// The numbers of usage. A sender has a rate, and no other limits of ntfy: all other numbers are 0.
  var stats: [String: Int]

  private static let unused = [
    "messages", "emails", "emails_remaining", "calls", "calls_remaining", "reservations", "reservations_remaining",
    "attachment_total_size", "attachment_total_size_remaining",
  ]

  init(_ sender: MessageSender) {
    username = sender.name
    stats = Dictionary(uniqueKeysWithValues: NtfyAccount.unused.map { ($0, 0) })
    stats["messages_remaining"] = sender.rate
  }
}
