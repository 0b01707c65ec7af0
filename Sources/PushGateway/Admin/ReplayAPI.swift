import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The route that applies other preferences to the past pushes of a device. It changes nothing.
struct ReplayAPI: Sendable {
  let registrations: any Registrations
  let logQueries: LogQueries
  let clock: WallClock

  var routes: [Router.Route] { [.init("POST", .replay, .operator, replay)] }

  /// The longest time in seconds: a year.
  private static let longestTime = 365 * 86_400
  /// The number of periods into which the time is divided.
  static let periodCount = 24
  /// The maximum number of pages of the log that are read, and of pushes with another result in the answer.
  private static let maximumPages = 5
  private static let maximumChanges = 500

  private func replay(_ request: ControlRequest) async throws -> Response {
    let body: ReplayRequest = try request.decoded()
    try Problem.check(body.seconds, 60...ReplayAPI.longestTime, "time", of: "seconds (a year)")
    let device = try registrations.device(named: request.parameters[0])
    let preferences = try changed(registrations.preferences(of: device.id), body)
    let now = clock.seconds
    let start = now - Int64(body.seconds)
    let (records, isCut) = try await records(of: device.name, since: start * 1000)
    var replay = Replay(preferences, offset: TimeZones.offset)
    let outcomes = Replay.Delivery.all(in: records).map { replay.decide($0) }
    let different = outcomes.filter { !$0.gained.isEmpty || !$0.lost.isEmpty }
    var changes: [ReplayRecord.Change] = []
    for outcome in different.suffix(ReplayAPI.maximumChanges).reversed() {
      let reasons = outcome.removed.map { removal in
        Explanation(removal, preferences: preferences, device: device.name, topic: outcome.delivery.topic).reason
      }
      changes.append(ReplayRecord.Change(outcome, reasons: reasons))
    }
    let less = different.count { !$0.lost.isEmpty }
    let more = different.count { !$0.gained.isEmpty }
    let held = outcomes.count { $0.isHeld }
    return Response(
      ReplayRecord(
        pushes: outcomes.count, less: less, more: more, held: held, isCut: isCut,
        times: ReplayAPI.times(outcomes, from: start, to: now), apps: ReplayAPI.apps(outcomes), changes: changes))
  }

  /// Returns preferences with the changes of a request.
  private func changed(_ preferences: Preferences, _ body: ReplayRequest) throws -> Preferences {
    if let topic = body.app { _ = try registrations.app(topic: topic) }
    var preferences = preferences
    for assignment in body.settings {
      do throws(SettingError) {
        try preferences.set(assignment, app: body.app, category: body.category)
      } catch {
        throw Problem.badRequest(error.description)
      }
    }
    return preferences
  }

  /// Returns the rows of a device's pushes, the oldest first, and true if the oldest ones are missing.
  private func records(of device: String, since start: Int64) async throws -> (rows: [LogRecord], isCut: Bool) {
    var values = [
      "device": device, "since": "\(start)", "event": "accepted,transmitted,suppressed",
      "limit": "\(Limits.maximumLogPage)",
    ]
    var pages: [[LogRecord]] = []
    while true {
      let page = LogRows(try await logQueries.newest(try logQueries.request(values)))
      pages.append(page.rows)
      let isLast = page.rows.count < Limits.maximumLogPage
      guard !isLast, pages.count < ReplayAPI.maximumPages, let before = page.before else {
        return (pages.reversed().flatMap { $0 }, !isLast)
      }
      values["before"] = before
    }
  }

  /// Returns the numbers of equal periods of a time.
  private static func times(_ outcomes: [Replay.Outcome], from start: Int64, to end: Int64) -> [ReplayRecord.Tally] {
    let (count, length) = (Int64(periodCount), max(1, end - start))
    var times = (0..<count).map { ReplayRecord.Tally(at: Timestamp.text(seconds: start + $0 * length / count)) }
    for outcome in outcomes {
      let place = (outcome.delivery.at - start) * count / length
      times[Int(min(max(0, place), count - 1))].add(outcome)
    }
    return times
  }

  private static func apps(_ outcomes: [Replay.Outcome]) -> [ReplayRecord.Tally] {
    var apps: [String: ReplayRecord.Tally] = [:]
    for outcome in outcomes {
      let topic = outcome.delivery.topic
      apps[topic, default: ReplayRecord.Tally(topic: topic)].add(outcome)
    }
    return apps.sorted { $0.key < $1.key }.map(\.value)
  }
}

extension ReplayRecord.Tally {
  fileprivate mutating func add(_ outcome: Replay.Outcome) {
    pushes += 1
    if outcome.delivery.presented.contains(.alert) { before += 1 }
    if outcome.isHeld { held += 1 } else if outcome.presented.contains(.alert) { after += 1 }
  }
}

extension ReplayRecord.Change {
  fileprivate init(_ outcome: Replay.Outcome, reasons: [String]) {
    let delivery = outcome.delivery
    self.init(
      at: Timestamp.text(seconds: delivery.at), topic: delivery.topic, id: delivery.id,
      was: delivery.presented.map(\.rawValue), wouldBe: outcome.presented.map(\.rawValue), isHeld: outcome.isHeld,
      reasons: reasons.indices.filter { reasons.firstIndex(of: reasons[$0]) == $0 }.map { reasons[$0] })
  }
}
