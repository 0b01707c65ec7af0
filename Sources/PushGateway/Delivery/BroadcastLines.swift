import PushPolicy
import PushStorage

/// A cache of the line of the last broadcast: most subscribers get the same presentation, so the line is encoded once
/// and shared by their streams.
///
/// One for each event loop; not `Sendable`.
final class BroadcastLines {
  private var message: BroadcastMessage?
  private var presentation = Presentation()
  private var line: [UInt8] = []

  /// Returns the encoded line of a message, including the line terminator.
  func line(of message: BroadcastMessage, _ push: StoredPush, app: App, presentation: Presentation) -> [UInt8] {
    if message !== self.message || presentation != self.presentation {
      (self.message, self.presentation) = (message, presentation)
      line = PushLine.push(MailboxEntry(seq: 0, push: push), app: app, presentation: presentation, of: message)
      line.append(UInt8(ascii: "\n"))
    }
    return line
  }
}
