/// What waits in a mailbox now.
package struct MailboxBacklog: Sendable, Equatable {
  /// Pushes that wait for their devices.
  package var waiting: Int
  /// When the oldest of them came, in milliseconds since 1970, to some seconds; nil when none waits.
  package var oldest: Int64?
  /// Pushes that wait for a commit.
  package var uncommitted: Int

  package init(waiting: Int, oldest: Int64?, uncommitted: Int) {
    (self.waiting, self.oldest, self.uncommitted) = (waiting, oldest, uncommitted)
  }
}
