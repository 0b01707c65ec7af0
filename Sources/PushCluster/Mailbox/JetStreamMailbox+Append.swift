import Dispatch
import NATSClient
import PushCore
package import PushStorage
import Synchronization

extension JetStreamMailbox {
  /// The appends of one call, which complete when each push has its outcome. Used on the mailbox's queue.
  private final class Batch: @unchecked Sendable {
    var outcomes: [AppendOutcome]
    var open: Int
    let ticket: OrderedCompletions.Ticket
    let completion: @Sendable ([AppendOutcome]) -> Void

    init(_ count: Int, _ ticket: OrderedCompletions.Ticket, _ completion: @escaping @Sendable ([AppendOutcome]) -> Void)
    {
      outcomes = Array(repeating: .unavailable, count: count)
      open = count
      self.ticket = ticket
      self.completion = completion
    }
  }

  /// One push that is being stored.
  struct Attempt: Sendable {
    let push: StoredPush
    let headers: [(name: String, value: String)]
    let deadline: ContinuousClock.Instant
    var pause = 50
    /// True if an earlier attempt may have stored the push.
    var isUncertain = false
    let done: @Sendable (AppendOutcome) -> Void
  }

  package func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void) {
    let size = pushes.reduce(0) { $0 + $1.payload.count + 512 }
    let isTaken = state.withLock { state in
      guard !state.isClosed, state.inFlight.count + pushes.count <= Self.maximumInFlight.count,
        state.inFlight.size + size <= Self.maximumInFlight.size
      else { return false }
      state.inFlight.count += pushes.count
      state.inFlight.size += size
      return true
    }
    guard isTaken else { return completion(pushes.map { _ in .unavailable }) }
    queue.async { [self] in
      let batch = Batch(pushes.count, tickets.take()) { [self] outcomes in
        state.withLock { state in
          state.inFlight.count -= pushes.count
          state.inFlight.size -= size
        }
        completion(outcomes)
      }
      if pushes.isEmpty { return finish(batch) }
      for (index, push) in pushes.enumerated() {
        begin(push) { [self] outcome in
          queue.async { [self] in
            batch.outcomes[index] = outcome
            batch.open -= 1
            if batch.open == 0 { finish(batch) }
          }
        }
      }
    }
  }

  private func finish(_ batch: Batch) {
    tickets.done(batch.ticket) { batch.completion(batch.outcomes) }
  }

  /// Sends a push when its device's queue allows it. Called on the queue.
  private func begin(_ push: StoredPush, _ done: @escaping @Sendable (AppendOutcome) -> Void) {
    let hasCollapse = !push.collapseID.isEmpty
    take(
      .append { [self] in
        let first = change(push.device) { cache in
          if hasCollapse { cache.collapsing += 1 }
          cache.appends += 1
          return waiting(push, in: cache)
        }
        let attempt = Attempt(
          push: push, headers: PushHeaders.write(push, now: now()), deadline: environment.now() + environment.timeout,
          done: { [self] outcome in
            if hasCollapse { change(push.device) { $0.collapsing -= 1 } }
            settle(push.device, outcome) { [self] in
              end(push.device)
              done(outcome)
            }
          })
        if hasLeft(push) {
          attempt.done(.duplicate)
        } else if let first {
          sendUnlessWaiting(attempt, first)
        } else {
          send(attempt)
        }
      }, of: push.device)
  }

  /// Sends a push unless a push with the same id is still pending. Another gateway may have removed the known one.
  private func sendUnlessWaiting(_ attempt: Attempt, _ first: UInt64) {
    environment.start { [self] in
      do throws(JetStreamError) {
        if try await isThere(first, of: attempt.push.device) { attempt.done(.duplicate) } else { send(attempt) }
      } catch {
        note(error)
        attempt.done(.unavailable)
      }
    }
  }

  private func end(_ device: DeviceID) {
    queue.async { [self] in
      for start in change(device, { $0.turns.endAppend() }) { start() }
    }
  }

  private func send(_ attempt: Attempt) {
    engine.publish(streams.pushes(of: attempt.push.device), headers: attempt.headers, attempt.push.payload) {
      [self] answer in
      switch answer {
      case .success(let stored): acknowledged(attempt, stored)
      case .failure(let error): again(attempt, after: error)
      }
    }
  }

  private func acknowledged(_ attempt: Attempt, _ stored: PublishAcknowledgement) {
    note(nil)
    note(stored.sequence, in: partition(of: attempt.push.device))
    guard stored.isDuplicate else { return self.stored(attempt, stored.sequence) }
    guard attempt.isUncertain else {
      return attempt.done(attempt.push.isSenderID ? .duplicate : .queued(seq: stored.sequence, replaced: nil))
    }
    // The stored message is from an earlier attempt of this gateway, or from the sender's earlier request.
    environment.start { [self] in
      do throws(JetStreamError) {
        let found = try await retrying { () async throws(JetStreamError) in
          try await engine.leaderMessage(streams.stream(of: attempt.push.device), sequence: stored.sequence)
        }
        let isOurs = found?.header("Unique-Id") == attempt.push.uniqueID.description
        if isOurs || !attempt.push.isSenderID {
          self.stored(attempt, stored.sequence)
        } else {
          attempt.done(.duplicate)
        }
      } catch {
        note(error)
        attempt.done(.unavailable)
      }
    }
  }

  private func again(_ attempt: Attempt, after error: JetStreamError) {
    let isInProcess = error.code == .duplicateInProcess
    guard isInProcess || error.mayPass, environment.now() < attempt.deadline else {
      note(error)
      return attempt.done(.unavailable)
    }
    // An election is short and not reported as a problem.
    if !isInProcess, attempt.pause >= 400 { note(error) }
    var next = attempt
    next.isUncertain = attempt.isUncertain || error.leavesDoubt
    next.pause = isInProcess ? 30 : min(500, attempt.pause * 2)
    let later = next
    environment.after(.milliseconds(attempt.pause)) { [self] in queue.async { [self] in send(later) } }
  }

  /// Continues with a push that has its number.
  private func stored(_ attempt: Attempt, _ seq: UInt64) {
    let push = attempt.push
    if case .retry(let first) = learn(seq, push) { settleSoon(seq, push, after: first) }
    guard !push.collapseID.isEmpty else { return attempt.done(.queued(seq: seq, replaced: nil)) }
    replace(push, seq: seq) { replaced in attempt.done(.queued(seq: seq, replaced: replaced)) }
  }

  /// Evicts the pushes beyond the limit, and then calls `done`.
  private func settle(_ device: DeviceID, _ outcome: AppendOutcome, _ done: @escaping @Sendable () -> Void) {
    guard case .queued = outcome else { return done() }
    let isDue = change(device) { cache in
      guard cache.collapsing == 0, cache.count > cap || cache.appends > max(1, cap / 2) else { return false }
      cache.appends = 0
      return true
    }
    guard isDue else { return done() }
    environment.start { [self] in
      try? await trim(device)
      done()
    }
  }
}
