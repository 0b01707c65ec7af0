import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// What is scheduled, and who waits for its time: nobody, while nothing is.
final class Schedule: Sendable {
  private struct State {
    /// Waits and delivers; nil while nothing is scheduled.
    var work: Task<Void, Never>?
    /// The pause until the next is due.
    var pause: Task<Void, Never>?
    var isStopped = false
  }

  let pushes: ScheduledPushes
  private let deliver: DeliverScheduled
  private let clock: WallClock
  private let log: DeliveryLog
  private let state = Mutex(State())

  /// A clock that is set meanwhile is noticed after so long.
  private static let longestPause: Int64 = 10_000
  /// How long what can't be stored now waits, in milliseconds.
  private static let retryPause: Int64 = 1_000
  /// How late a push may be before health reports it, in milliseconds.
  private static let longestDelay: Int64 = 60_000

  init(_ deliver: DeliverScheduled) {
    self.deliver = deliver
    (pushes, clock, log) = (deliver.scheduled, deliver.clock, deliver.log)
  }

  /// Keeps a push for its time, and calls back when that is on disk.
  func add(
    _ push: ScheduledPush, completion: @escaping @Sendable (Result<ScheduledPushes.Outcome, StoreError>) -> Void
  ) {
    pushes.add(push) { [self] outcome in
      if case .success(.stored) = outcome {
        log.append([push.event(.accepted, at: push.received, detail: .scheduled(Schedule.timestamp(push.at)))])
        wake()
      }
      completion(outcome)
    }
  }

  /// RFC 3339, UTC, of milliseconds since 1970.
  static func timestamp(_ milliseconds: Int64) -> String {
    var bytes: [UInt8] = []
    appendTimestamp(milliseconds, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Takes the pushes of an id back.
  ///
  /// - Returns: how many there were.
  func cancel(_ id: APNSID) async throws -> Int { note(try await pushes.cancel(id), .cancelled) }

  /// Takes back the pushes of an id that are scheduled for devices, of one app or of all, for their sender.
  ///
  /// - Returns: the devices for which there was one.
  func cancel(_ id: APNSID, of app: AppID?, for devices: [DeviceID]) async throws -> Set<DeviceID> {
    let removed = try await pushes.cancel(id, of: app, for: devices)
    _ = note(removed, .retracted)
    return Set(removed.map(\.device))
  }

  /// Takes back what is scheduled for devices, of one app or of all.
  func purge(_ devices: [DeviceID], app: AppID? = nil) async throws {
    _ = note(try await pushes.purge(devices, app: app), .unregistered)
  }

  /// Takes back what is scheduled of an app.
  func purge(_ app: AppID) async throws { _ = note(try await pushes.purge(app), .unregistered) }

  private func note(_ removed: [ScheduledPushes.Removed], _ cause: DeliveryDetail.Fact) -> Int {
    let now = clock.milliseconds()
    log.append(
      removed.map {
        .init(at: now, event: .dropped, id: $0.id, device: $0.device, app: $0.app, detail: .fact(cause))
      })
    return removed.count
  }

  /// That the first push is late by more than ``longestDelay``; nil while none is.
  var problem: HealthProblem? {
    // A time of zero says that the first one has to be looked for.
    guard let next = pushes.next, next > 0, clock.milliseconds() - next > Schedule.longestDelay else { return nil }
    return HealthProblem(
      part: "schedule", problem: "scheduled pushes are late: the first was scheduled for \(Schedule.timestamp(next))",
      since: (next + Schedule.longestDelay) / 1000)
  }

  /// Whether somebody waits for a time.
  var isWaiting: Bool { state.withLock { $0.work != nil } }

  /// Begins to wait, if something is scheduled, or looks anew until when.
  func wake() {
    state.withLock { state in
      state.pause?.cancel()
      if state.isStopped || state.work != nil || pushes.next == nil { return }
      state.work = Task { await work() }
    }
  }

  /// Ends it; what is under way is done.
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
      if case .incomplete(let place) = outcome {
        outcome = await deliver(after: place)
      } else {
        outcome = await deliver()
      }
    }
  }

  /// The pause before what is due next; nil: there is nothing to wait for, and nobody does any longer.
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
