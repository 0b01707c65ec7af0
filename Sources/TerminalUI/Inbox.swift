import Synchronization

/// What reaches the loop of ``Program``.
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
/// Keys and signals overtake messages, so a burst of pushes does not delay them. Messages are bounded: whoever sends
/// one when ``maximumMessages`` wait is suspended until there is room.
package final class Inbox<Message: Sendable>: Sendable {
  /// How many messages wait at most.
  package static var maximumMessages: Int { 4_096 }
  /// How many messages the loop takes at once, between two looks at the keys.
  package static var maximumBatch: Int { 32 }

  private struct State {
    var urgent: [ProgramEvent<Message>] = []
    var messages: [Message] = []
    var isClosed = false
    var isNudged = false
    var taker: CheckedContinuation<Void, Never>?
    var sender: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  package init() {}

  /// Adds what a person or the kernel did; never waits.
  package func post(_ event: ProgramEvent<Message>) {
    let taker = state.withLock { state in
      state.urgent.append(event)
      return state.taker.take()
    }
    taker?.resume()
  }

  /// Adds a message, waiting for room first. One sender at a time.
  package func send(_ message: Message) async {
    await withCheckedContinuation { continuation in
      let hasRoom = state.withLock { state in
        if state.messages.count < Self.maximumMessages || state.isClosed { return true }
        state.sender = continuation
        return false
      }
      if hasRoom { continuation.resume() }
    }
    let taker = state.withLock { state in
      if !state.isClosed { state.messages.append(message) }
      return state.taker.take()
    }
    taker?.resume()
  }

  /// Waits until there is something and takes it: all keys and signals, then a batch of messages if they are welcome.
  ///
  /// Takes nothing after ``nudge()``.
  package func take(messagesAreWelcome: Bool = true) async -> [ProgramEvent<Message>] {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        guard !state.isNudged, state.urgent.isEmpty, !messagesAreWelcome || state.messages.isEmpty else { return false }
        state.taker = continuation
        return true
      }
      if !isEmpty { continuation.resume() }
    }
    let (events, sender) = state.withLock { state in
      let batch = state.messages.prefix(messagesAreWelcome ? Self.maximumBatch : 0)
      let events = state.urgent + batch.map { .message($0) }
      state.isNudged = false
      state.urgent.removeAll(keepingCapacity: true)
      state.messages.removeFirst(batch.count)
      return (events, state.messages.count < Self.maximumMessages ? state.sender.take() : nil)
    }
    sender?.resume()
    return events
  }

  /// Has the taker look again at what it wants.
  package func nudge() {
    let taker = state.withLock { state in
      state.isNudged = true
      return state.taker.take()
    }
    taker?.resume()
  }

  /// Lets a waiting sender go; nothing is kept or taken any more.
  package func close() {
    let sender = state.withLock { state in
      state.isClosed = true
      return state.sender.take()
    }
    sender?.resume()
  }
}
