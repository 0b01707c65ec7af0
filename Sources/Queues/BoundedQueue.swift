import Synchronization

/// A queue between tasks with a bounded total weight of elements; urgent elements overtake the others.
///
/// Senders suspend while the queue is full, and resume in the order of their calls. One task takes elements, any
/// number at a time.
package final class BoundedQueue<Element: Sendable>: Sendable {
  private struct State {
    var urgent: [Element] = []
    var elements: [Element] = []
    /// The total weight of ``elements``.
    var weight = 0
    /// The suspended senders with the elements that they sent while ``elements`` were full; nil for a sender that only
    /// asked for space.
    var waiting: [(element: Element?, sender: CheckedContinuation<Void, Never>)] = []
    var taker: CheckedContinuation<Void, Never>?
    var isNudged = false
    var isFinished = false
  }

  private let state = Mutex(State())
  private let capacity: Int
  private let weight: @Sendable (Element) -> Int

  /// - Parameters:
  ///   - capacity: The total weight from which on senders suspend; the last element may exceed it.
  ///   - weight: The weight of an element.
  package init(capacity: Int, weight: @escaping @Sendable (Element) -> Int = { _ in 1 }) {
    precondition(capacity > 0, "a queue without capacity never takes anything")
    self.capacity = capacity
    self.weight = weight
  }

  /// The number of senders that are suspended for space.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Adds an element, after suspending until there is space. After ``finish()`` the element is dropped.
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

  /// Suspends until there is space, for a caller that then adds elements with ``append(_:)``.
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

  /// Adds elements at the end at once; the total weight may exceed the capacity.
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

  /// Adds an element that overtakes the others and is not limited: for single actions of a user.
  package func post(_ element: Element) {
    let taker = state.withLock { state in
      if !state.isFinished { state.urgent.append(element) }
      return state.taker.take()
    }
    taker?.resume()
  }

  /// Suspends until there is an element, and takes all urgent ones, then the first others if
  /// `elementsAreWelcome` is true.
  ///
  /// - Returns: The elements; an empty array after ``nudge()`` if there were none; nil after ``finish()`` when the
  ///   queue is empty.
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

  /// Adds the elements of suspended senders, as far as there is space.
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

  /// Resumes the taker, so that it can call ``take(atMost:elementsAreWelcome:)`` with other arguments.
  package func nudge() {
    let taker = state.withLock { state in
      state.isNudged = true
      return state.taker.take()
    }
    taker?.resume()
  }

  /// Resumes all suspended tasks. Elements in the queue can still be taken; further elements are dropped.
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
