import PushPolicy
import PushStorage

/// The line of the broadcast that went out last: most of those who subscribe are shown the same, so that it is written
/// once and shared by their streams.
///
/// One for each loop; not `Sendable`.
final class BroadcastLines {
  private var message: BroadcastMessage?
  private var presentation = Presentation()
  private var line: [UInt8] = []

  /// The line of a message, with its end.
  func line(of message: BroadcastMessage, _ push: StoredPush, app: App, presentation: Presentation) -> [UInt8] {
    if message !== self.message || presentation != self.presentation {
      (self.message, self.presentation) = (message, presentation)
      line = PushLine.push(MailboxEntry(seq: 0, push: push), app: app, presentation: presentation, of: message)
      line.append(UInt8(ascii: "\n"))
    }
    return line
  }
}
