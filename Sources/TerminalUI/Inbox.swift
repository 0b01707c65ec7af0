import Queues

/// An event for the loop of ``Program`` or ``LineProgram``.
package enum ProgramEvent<Message: Sendable>: Sendable {
  case message(Message)
  case input(TerminalInput)
  /// Redraws the whole screen.
  case redraw
  /// Restores the terminal and stops the process until the shell continues the job.
  case suspend
}

/// The queue of keys, signals and messages for the loop, which is its only consumer and takes many events at a time.
///
/// Keys and signals overtake messages, so that a burst of messages does not delay them. The number of messages is
/// limited: a sender is suspended while ``maximumMessages`` messages are queued.
package struct Inbox<Message: Sendable>: Sendable {
  /// The maximum number of queued messages.
  static var maximumMessages: Int { 4_096 }
  /// The maximum number of messages that the loop takes at once, between two checks for keys.
  static var maximumBatch: Int { 32 }

  private let queue = BoundedQueue<ProgramEvent<Message>>(capacity: maximumMessages)

  package init() {}

  /// The number of senders that are suspended because the queue is full.
  var waitingCount: Int { queue.waitingCount }

  /// Adds a user or kernel event; never waits.
  package func post(_ event: ProgramEvent<Message>) { queue.post(event) }

  /// Adds a message; waits first until the queue has capacity.
  package func send(_ message: Message) async { await queue.send(.message(message)) }

  /// Waits until the queue has capacity for a caller that then adds messages with ``append(_:)``.
  package func waitForRoom() async { await queue.waitForRoom() }

  /// Adds messages immediately, after the queued ones, even beyond the capacity.
  package func append(_ messages: some Sequence<Message>) { queue.append(messages.lazy.map { .message($0) }) }

  /// Waits for events and takes them: all keys and signals, then a batch of messages if `messagesAreWelcome` is true.
  ///
  /// Returns an empty array after ``nudge()`` if there are no events.
  func take(messagesAreWelcome: Bool = true) async -> [ProgramEvent<Message>] {
    await queue.take(atMost: Self.maximumBatch, elementsAreWelcome: messagesAreWelcome) ?? []
  }

  /// Resumes the loop without an event, so that it checks again whether it accepts messages.
  func nudge() { queue.nudge() }

  /// Resumes all suspended senders; later events are dropped.
  func close() { queue.finish() }
}
