import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// The scheduled pushes, and a task that delivers them at their times, and reports late heartbeats. No task runs while
/// nothing is scheduled and no heartbeat is expected.
final class Schedule: Sendable {
  private struct State {
    /// The task that pauses and delivers; nil while nothing is scheduled.
    var work: Task<Void, Never>?
    /// The pause until the due time of the next push.
    var pause: Task<Void, Never>?
    var isStopped = false
  }

  let pushes: ScheduledPushes
  private let deliver: DeliverScheduled
  /// The expected heartbeats. A late heartbeat schedules pushes.
  let heartbeats: Heartbeats
  private let clock: WallClock
  private let log: DeliveryLog
  private let state = Mutex(State())

  /// The longest pause in milliseconds: a change of the clock takes effect within this time.
  private static let longestPause: Int64 = 10_000
  /// The pause after a failed attempt to store due pushes, in milliseconds.
  private static let retryPause: Int64 = 1_000
  /// The maximum delay of a push before health reports a problem, in milliseconds.
  private static let longestDelay: Int64 = 60_000

  init(_ deliver: DeliverScheduled, _ heartbeats: Heartbeats) {
    (self.deliver, self.heartbeats) = (deliver, heartbeats)
    (pushes, clock, log) = (deliver.scheduled, deliver.clock, deliver.log)
  }

  /// Schedules a push, and calls `completion` when it is on disk.
  func add(
    _ push: ScheduledPush, completion: @escaping @Sendable (Result<ScheduledPushes.Outcome, StoreError>) -> Void
  ) {
    pushes.add(push) { [self] outcome in
      if case .success(.stored) = outcome {
        log.append([push.event(.accepted, at: push.received, detail: .scheduled(Timestamp.text(push.at)))])
        wake()
      }
      completion(outcome)
    }
  }

  /// Cancels the scheduled pushes of an id.
  ///
  /// - Returns: the number of canceled pushes.
  func cancel(_ id: APNSID) async throws -> Int { note(try await pushes.cancel(id), .cancelled) }

  /// Retracts the scheduled pushes of an id for some devices, of one app or of all, on behalf of their sender.
  ///
  /// - Returns: the devices that had such a push.
  func cancel(_ id: APNSID, of app: AppID?, for devices: [DeviceID]) async throws -> Set<DeviceID> {
    let removed = try await pushes.cancel(id, of: app, for: devices)
    _ = note(removed, .retracted)
    return Set(removed.map(\.device))
  }

  /// Removes the scheduled pushes for some devices, of one app or of all.
  func purge(_ devices: [DeviceID], app: AppID? = nil) async throws {
    _ = note(try await pushes.purge(devices, app: app), .unregistered)
  }

  /// Removes the scheduled pushes of an app.
  func purge(_ app: AppID) async throws { _ = note(try await pushes.purge(app), .unregistered) }

  private func note(_ removed: [ScheduledPushes.Removed], _ cause: DeliveryDetail.Fact) -> Int {
    let now = clock.milliseconds()
    log.append(
      removed.map {
        .init(at: now, event: .dropped, id: $0.id, device: $0.device, app: $0.app, detail: .fact(cause))
      })
    return removed.count
  }

  /// A problem if the first scheduled push is late by more than ``longestDelay``; nil otherwise.
  var problem: HealthProblem? {
    // A time of zero means that the first push is not known yet.
    guard let next = pushes.next, next > 0, clock.milliseconds() - next > Schedule.longestDelay else { return nil }
    return HealthProblem(
      part: "schedule", problem: "scheduled pushes are late: the first was scheduled for \(Timestamp.text(next))",
      since: (next + Schedule.longestDelay) / 1000)
  }

  /// True while the delivery task exists.
  var isWaiting: Bool { state.withLock { $0.work != nil } }

  /// Starts the task if a push is scheduled or a heartbeat is expected; a running task recomputes its pause.
  func wake() {
    state.withLock { state in
      state.pause?.cancel()
      if state.isStopped || state.work != nil || pushes.next == nil { return }
      state.work = Task { await work() }
    }
  }

  /// Stops the task; work in progress is completed.
  func stop() async {
    let work = state.withLock { state in
      state.isStopped = true
      state.pause?.cancel()
      return state.work
    }
    await work?.value
    await pushes.settle()
  }

  private func work() async {
    var outcome = DeliverScheduled.Outcome.done
    while let pause = nextPause(isWell: outcome == .done) {
      await pause.value
      guard pushes.next.map({ $0 <= clock.milliseconds() }) ?? false else {
        outcome = .done
        continue
      }
      // A heartbeat that can't be read delays no scheduled push.
      let isFound = await findLate()
      if case .incomplete(let position) = outcome {
        outcome = await deliver(after: position)
      } else {
        outcome = await deliver()
      }
      if !isFound, outcome == .done { outcome = .incomplete(next: nil) }
    }
  }

  /// Schedules the pushes about late heartbeats; false if that has to be tried again.
  private func findLate() async -> Bool {
    do {
      try await heartbeats.findLate()
      return true
    } catch {
      return false
    }
  }

  /// Returns the pause until the due time of the next push; nil if nothing is scheduled, which ends the task.
  private func nextPause(isWell: Bool) -> Task<Void, Never>? {
    state.withLock { state in
      guard !state.isStopped, let next = pushes.next else {
        (state.work, state.pause) = (nil, nil)
        return nil
      }
      let left = isWell ? min(max(next - clock.milliseconds(), 0), Schedule.longestPause) : Schedule.retryPause
      let pause = Task { _ = try? await Task.sleep(for: .milliseconds(left)) }
      state.pause = pause
      return pause
    }
  }
}
