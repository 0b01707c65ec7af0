/// The numbers of pending and of uncommitted pushes in a mailbox.
package struct MailboxBacklog: Sendable, Equatable {
  /// The number of pushes that are pending for their devices.
  package var waiting: Int
  /// The time at which the oldest pending push was received, in milliseconds since 1970, rounded by some seconds; nil
  /// if none is pending.
  package var oldest: Int64?
  /// The number of pushes that are queued for a commit.
  package var uncommitted: Int

  package init(waiting: Int, oldest: Int64?, uncommitted: Int) {
    (self.waiting, self.oldest, self.uncommitted) = (waiting, oldest, uncommitted)
  }
}
