import Synchronization

/// What happened on a device's stream and was not looked at yet: one sender, one taker, who takes all of it at once.
final class EventQueue: Sendable {
  /// Bytes of pushes beyond which the sender waits.
  static let maximumSize = 4 << 20

  private struct State {
    var events: [DeviceEvent] = []
    var size = 0
    var isFinished = false
    var taker: CheckedContinuation<Void, Never>?
    var sender: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// Adds an event; waits first while too much is in here.
  func send(_ event: DeviceEvent) async {
    await withCheckedContinuation { continuation in
      let hasRoom = state.withLock { state in
        if state.size <= EventQueue.maximumSize || state.isFinished { return true }
        state.sender = continuation
        return false
      }
      if hasRoom { continuation.resume() }
    }
    let taker = state.withLock { state in
      state.size += event.size
      state.events.append(event)
      return state.taker.take()
    }
    taker?.resume()
  }

  /// Waits until something has happened and takes all of it; nil when nothing more will happen.
  func take() async -> [DeviceEvent]? {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if !state.events.isEmpty || state.isFinished { return true }
        state.taker = continuation
        return false
      }
      if isReady { continuation.resume() }
    }
    let (events, sender) = state.withLock { state in
      let events = state.events
      state.events = []
      state.size = 0
      return (events, state.sender.take())
    }
    sender?.resume()
    return events.isEmpty ? nil : events
  }

  /// Nothing more is taken or sent.
  func finish() {
    let waiting = state.withLock { state in
      state.isFinished = true
      return [state.taker.take(), state.sender.take()]
    }
    for continuation in waiting { continuation?.resume() }
  }
}

extension DeviceEvent {
  fileprivate var size: Int {
    if case .pushes(let batch) = self { return batch.bytes.count }
    return 0
  }
}
