import PushGateway
import Synchronization

/// Collects the events of a client under test, and resumes the checks that await them.
final class ClientWatch: Sendable {
  private struct Waiter: Sendable {
    var condition: @Sendable (ClientRecord) -> Bool
    var continuation: CheckedContinuation<Bool, Never>
  }

  /// The client that is killed at its next acknowledgement.
  private struct Trap: Sendable {
    var client: ClientProcess
    /// True if the gateway receives the acknowledgement.
    var isPassed: Bool
  }

  private struct State: Sendable {
    var record = ClientRecord()
    var waiters: [Int: Waiter] = [:]
    /// The number of the last waiter.
    var last = 0
    var trap: Trap?
    /// The client that runs.
    var client: ClientProcess?
  }

  private let state = Mutex(State())

  var record: ClientRecord { state.withLock { $0.record } }

  // MARK: Events

  /// Adds an event of a stream.
  ///
  /// - Returns: false for an acknowledgement that the gateway must not receive.
  func receive(_ event: DeviceTap.Event) -> Bool {
    change { state in
      state.record.note(event)
      guard case .acknowledgement = event, let trap = state.trap else { return true }
      trap.client.kill()
      return trap.isPassed
    }
  }

  /// Adds a line of the client's output.
  func receive(_ line: [UInt8]) { change { $0.record.note(line) } }

  // MARK: The client

  /// Starts a client.
  func start(_ words: [String]) throws {
    change { $0.record.end = nil }
    let client = try ClientProcess.start(
      words, line: { [self] in receive($0) }, ended: { [self] end in change { $0.record.end = end } })
    change { $0.client = client }
  }

  /// Kills the client, if it runs.
  func kill() { state.withLock { $0.client }?.kill() }

  /// Kills the client at its next acknowledgement, which the gateway receives or not.
  func setTrap(isPassed: Bool) {
    change { state in state.trap = state.client.map { Trap(client: $0, isPassed: isPassed) } }
  }

  func removeTrap() { change { $0.trap = nil } }

  // MARK: Waiting

  /// Waits until a condition holds.
  ///
  /// - Returns: false if it does not hold within the limit.
  func wait(_ limit: Duration, until condition: @escaping @Sendable (ClientRecord) -> Bool) async -> Bool {
    await withCheckedContinuation { continuation in
      let number = state.withLock { state -> Int? in
        if condition(state.record) { return nil }
        state.last += 1
        state.waiters[state.last] = Waiter(condition: condition, continuation: continuation)
        return state.last
      }
      guard let number else { return continuation.resume(returning: true) }
      Task {
        try? await Task.sleep(for: limit)
        state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume(returning: false)
      }
    }
  }

  /// Changes the state, and resumes the waiters whose conditions hold.
  private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    let (value, met) = state.withLock { state in
      let value = body(&state)
      let numbers = state.waiters.filter { $0.value.condition(state.record) }.map(\.key)
      return (value, numbers.compactMap { state.waiters.removeValue(forKey: $0)?.continuation })
    }
    for continuation in met { continuation.resume(returning: true) }
    return value
  }
}
