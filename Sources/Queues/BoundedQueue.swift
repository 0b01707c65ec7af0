import Synchronization

/// A queue between tasks that holds a bounded weight of elements; what is urgent overtakes them.
///
/// Whoever sends while it is full waits, and those who wait go on in the order in which they came. One task takes, as
/// many elements at a time as it likes.
package final class BoundedQueue<Element: Sendable>: Sendable {
  private struct State {
    var urgent: [Element] = []
    var elements: [Element] = []
    /// Of ``elements``.
    var weight = 0
    /// What is sent while ``elements`` are full, nil for room alone, and who waits for it to be in there.
    var waiting: [(element: Element?, sender: CheckedContinuation<Void, Never>)] = []
    var taker: CheckedContinuation<Void, Never>?
    var isNudged = false
    var isFinished = false
  }

  private let state = Mutex(State())
  private let capacity: Int
  private let weight: @Sendable (Element) -> Int

  /// - Parameters:
  ///   - capacity: The weight from which on senders wait; the last element may go beyond it.
  ///   - weight: What an element counts.
  package init(capacity: Int, weight: @escaping @Sendable (Element) -> Int = { _ in 1 }) {
    precondition(capacity > 0, "a queue without capacity never takes anything")
    self.capacity = capacity
    self.weight = weight
  }

  /// How many senders wait for room.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Adds an element, waiting for room first. After ``finish()`` it is dropped.
  package func send(_ element: Element) async {
    await withCheckedContinuation { sender in
      let (isDone, taker) = state.withLock { state in
        if state.isFinished { return (true, nil as CheckedContinuation<Void, Never>?) }
        guard state.weight < capacity else {
          state.waiting.append((element, sender))
          return (false, nil)
        }
        state.elements.append(element)
        state.weight += weight(element)
        return (true, state.taker.take())
      }
      taker?.resume()
      if isDone { sender.resume() }
    }
  }

  /// Waits until there is room, for who then adds elements with ``append(_:)``.
  package func waitForRoom() async {
    await withCheckedContinuation { sender in
      let hasRoom = state.withLock { state in
        if state.isFinished || state.weight < capacity { return true }
        state.waiting.append((nil, sender))
        return false
      }
      if hasRoom { sender.resume() }
    }
  }

  /// Adds elements at once, in their turn after those that are in the queue: it may become fuller than it should be.
  package func append(_ elements: some Sequence<Element>) {
    let taker = state.withLock { state in
      if state.isFinished { return nil as CheckedContinuation<Void, Never>? }
      for element in elements {
        state.elements.append(element)
        state.weight += weight(element)
      }
      return state.taker.take()
    }
    taker?.resume()
  }

  /// Adds an element that overtakes the others and has no bound: for what a person does, one thing at a time.
  package func post(_ element: Element) {
    let taker = state.withLock { state in
      if !state.isFinished { state.urgent.append(element) }
      return state.taker.take()
    }
    taker?.resume()
  }

  /// Waits until there is something and takes it: all that is urgent, then the first elements, if they are welcome.
  ///
  /// - Returns: Nothing after ``nudge()``, when there was nothing; nil when nothing more will come.
  package func take(atMost count: Int = .max, elementsAreWelcome: Bool = true) async -> [Element]? {
    await withCheckedContinuation { taker in
      let isReady = state.withLock { state in
        let isEmpty = state.urgent.isEmpty && (!elementsAreWelcome || state.elements.isEmpty)
        if !isEmpty || state.isNudged || state.isFinished { return true }
        precondition(state.taker == nil, "two tasks take from one queue")
        state.taker = taker
        return false
      }
      if isReady { taker.resume() }
    }
    let (taken, senders) = state.withLock { state in
      let batch = state.elements.prefix(elementsAreWelcome ? count : 0)
      let taken = state.urgent + batch
      let isOver = taken.isEmpty && state.isFinished
      state.urgent.removeAll(keepingCapacity: true)
      state.elements.removeFirst(batch.count)
      state.weight -= batch.reduce(0) { $0 + weight($1) }
      state.isNudged = false
      return (isOver ? nil : taken, admit(&state))
    }
    for sender in senders { sender.resume() }
    return taken
  }

  /// Lets in what waits, as far as there is room.
  private func admit(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    var count = 0
    while count < state.waiting.count, state.weight < capacity {
      if let element = state.waiting[count].element {
        state.elements.append(element)
        state.weight += weight(element)
      }
      count += 1
    }
    defer { state.waiting.removeFirst(count) }
    return state.waiting.prefix(count).map(\.sender)
  }

  /// Has the taker look again at what it wants.
  package func nudge() {
    let taker = state.withLock { state in
      state.isNudged = true
      return state.taker.take()
    }
    taker?.resume()
  }

  /// Lets everybody go on who waits. What is in the queue can still be taken; nothing more gets in.
  package func finish() {
    let waiting = state.withLock { state in
      state.isFinished = true
      let senders = state.waiting.map(\.sender)
      state.waiting = []
      return senders + [state.taker.take()].compactMap { $0 }
    }
    for continuation in waiting { continuation.resume() }
  }
}
