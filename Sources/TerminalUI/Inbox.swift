import Queues

/// What reaches the loop of ``Program`` or ``LineProgram``.
package enum ProgramEvent<Message: Sendable>: Sendable {
  case message(Message)
  case input(TerminalInput)
  /// Draw everything anew.
  case redraw
  /// Give the terminal back and stop until the shell continues the job.
  case suspend
}

/// Where keys, signals and messages wait for the loop, which takes many at a time and is the only one to take.
///
/// Keys and signals overtake messages, so a burst of messages does not delay them. Messages are bounded: whoever sends
/// one when ``maximumMessages`` wait is suspended until there is room.
package struct Inbox<Message: Sendable>: Sendable {
  /// How many messages wait at most.
  static var maximumMessages: Int { 4_096 }
  /// How many messages the loop takes at once, between two looks at the keys.
  static var maximumBatch: Int { 32 }

  private let queue = BoundedQueue<ProgramEvent<Message>>(capacity: maximumMessages)

  package init() {}

  /// How many senders wait for room.
  var waitingCount: Int { queue.waitingCount }

  /// Adds what a person or the kernel did; never waits.
  package func post(_ event: ProgramEvent<Message>) { queue.post(event) }

  /// Adds a message, waiting for room first.
  package func send(_ message: Message) async { await queue.send(.message(message)) }

  /// Waits until there is room, for who then adds messages with ``append(_:)``.
  package func waitForRoom() async { await queue.waitForRoom() }

  /// Adds messages at once, after those that wait.
  package func append(_ messages: some Sequence<Message>) { queue.append(messages.lazy.map { .message($0) }) }

  /// Waits until there is something and takes it: all keys and signals, then a batch of messages if they are welcome.
  ///
  /// Takes nothing after ``nudge()``.
  func take(messagesAreWelcome: Bool = true) async -> [ProgramEvent<Message>] {
    await queue.take(atMost: Self.maximumBatch, elementsAreWelcome: messagesAreWelcome) ?? []
  }

  /// Has the loop look again at what it wants.
  func nudge() { queue.nudge() }

  /// Lets waiting senders go; nothing more is kept.
  func close() { queue.finish() }
}
