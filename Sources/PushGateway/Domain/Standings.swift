import GatewayProtocol
import Logging
import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// The standing of the apps with their recipients, and the rule that follows from it (N11).
///
/// The gateways of a cluster share the counts and the measures. Each gateway evaluates them, and the first one stores the
/// measure. The decision about a push reads the measure in its ``App``, not the counts.
final class Standings: Sendable {
  private struct State {
    /// The standings of all apps, as of the last evaluation.
    var known: [AppID: Standing] = [:]
    /// The time of the next evaluation, in milliseconds since 1970.
    var next: Int64 = 0
    /// The start of the facts that were kept at the last removal of old ones, in seconds since 1970.
    var trimmed: Int64 = 0
  }

  private let registrations: any Registrations
  private let days: AppDays
  private let clock: WallClock
  private let logger: Logger
  private let state = Mutex(State())

  init(registrations: any Registrations, days: AppDays, clock: WallClock, logger: Logger) {
    (self.registrations, self.days, self.clock, self.logger) = (registrations, days, clock, logger)
  }

  /// Returns the standing of an app for its recipients, as of the last evaluation; nil without any fact.
  func shown(of app: App) -> DeviceStanding? {
    let now = clock.seconds
    let isActive = app.measure?.isActive(at: now) == true
    guard let standing = state.withLock({ $0.known[app.id] }) ?? (isActive ? Standing() : nil) else { return nil }
    return DeviceStanding(
      standing, summaryUntil: isActive ? app.measure.map { Timestamp.text(seconds: $0.countedFrom) } : nil)
  }

  /// Stores the counts of this gateway and evaluates the apps with enough reports, once in ``Limits/standingInterval``.
  /// Removes old counts, once a day.
  func tend() async throws {
    let now = clock.milliseconds()
    let isDue = state.withLock { state in
      // A clock that was set back does not postpone the evaluation.
      guard now >= state.next || state.next > now + Limits.standingInterval else { return false }
      state.next = now + Limits.standingInterval
      return true
    }
    guard isDue else { return }
    try await settle()
    let start = Standing.start(at: now / 1000)
    let standings = try await days.standings(since: start)
    state.withLock { $0.known = standings }
    for (app, standing) in standings where standing.reporters >= Standing.Bound.reporters {
      try await evaluate(app, at: now / 1000)
    }
    guard start >= state.withLock({ $0.trimmed }) + 86_400 else { return }
    try await days.trim(before: start)
    state.withLock { $0.trimmed = start }
  }

  /// Stores the counts of this gateway.
  func settle() async throws { try await days.settle() }

  /// Evaluates an app after a report of advertising.
  func noteReport(of app: AppID) async throws {
    let now = clock.seconds
    try await days.settle(isComplete: true)
    let standing = try await days.standings(since: Standing.start(at: now), of: app)[app]
    state.withLock { $0.known[app] = standing }
    try await evaluate(app, at: now)
  }

  /// Begins the measure of an app if the facts since the end of the previous one require it.
  private func evaluate(_ id: AppID, at now: Int64) async throws {
    guard let app = registrations.app(id) else { return }
    let former = app.measure ?? .never
    guard now >= former.countedFrom else { return }
    let start = max(Standing.start(at: now), former.countedFrom)
    let standing = try await days.standings(since: start, of: id)[id] ?? Standing()
    guard let measure = standing.measure(after: former, at: now),
      try await registrations.setMeasure(measure, of: id, replacing: former)
    else { return }
    logger.log(
      .appSummarized, "recipients reported an app as advertising: its alerts go to the summary",
      metadata: [
        "topic": "\(app.topic)", "until": "\(Timestamp.text(seconds: measure.countedFrom))",
        "alerts": "\(standing.presented)", "reports": "\(standing.reported)",
      ])
  }

  // MARK: Requests

  /// Returns the present standings of apps, in their order.
  func records(of apps: [App]) async throws -> [StandingRecord] {
    let now = clock.seconds
    try await days.settle(isComplete: true)
    let start = Standing.start(at: now)
    let standings = try await days.standings(since: start, of: apps.count == 1 ? apps[0].id : nil)
    return apps.map { StandingRecord(topic: $0.topic, standings[$0.id] ?? Standing(), $0.measure ?? .never, at: now) }
  }

  /// Ends the measure of an app, and exempts the app until a time, in seconds since 1970. Facts before that time do not count.
  ///
  /// - Throws: 404 if the app was removed.
  func exempt(_ app: App, until end: Int64) async throws {
    var former = app.measure ?? .never
    let exemption = SummaryMeasure(summaryFrom: nil, countedFrom: end)
    // Another request or gateway may change it at the same time.
    while try await !registrations.setMeasure(exemption, of: app.id, replacing: former) {
      guard let present = registrations.app(app.id) else { throw Problem.notFound("the app was removed") }
      let next = present.measure ?? .never
      guard next != former else { throw Problem.failure }
      former = next
    }
  }
}

extension StandingRecord {
  /// - Parameter now: seconds since 1970.
  init(topic: String, _ standing: Standing, _ measure: SummaryMeasure, at now: Int64) {
    self.init(topic: topic, standing)
    let isOver = now >= measure.countedFrom
    if let from = measure.summaryFrom, !isOver {
      summaryFrom = Timestamp.text(seconds: from)
      summaryUntil = Timestamp.text(seconds: measure.countedFrom)
    } else if !isOver {
      exemptUntil = Timestamp.text(seconds: measure.countedFrom)
    }
  }
}
