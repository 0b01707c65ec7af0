import GRDB
import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

/// The use of alerts, from the rows of the delivery log to the shared table.
@Suite(.timeLimit(.minutes(5))) struct AppDaysTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let registrations: SQLiteRegistrations
  private let log: DeliveryLog
  private let days: AppDays
  private static let day: Int64 = 86_400
  private static let now: Int64 = 20_000 * day + 3_600

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    registrations = try SQLiteRegistrations(store: store)
    log = DeliveryLog(path: folder.file("log.sqlite"), retention: 86_400 * 365 * 100, logger: .silent)
    days = AppDays(store: store, log: log)
  }

  private func addApp(_ topic: String = "com.example.shop") async throws -> App {
    try await registrations.putApp(topic: topic, name: "Shop", icon: "S", policyMode: .enforce)
  }

  private func row(
    _ event: DeliveryEvent, _ app: AppID?, at: Int64 = now, _ detail: DeliveryDetail = .nothing
  ) -> DeliveryLog.Row {
    DeliveryLog.Row(at: at * 1_000, event: event, id: .number(1), device: 1, app: app, detail: detail)
  }

  @Test func `alerts count by app, and other parts, apps and events do not`() async throws {
    let (app, other) = (try await addApp(), try await addApp("com.example.mail"))
    log.append([
      row(.accepted, app.id), row(.transmitted, app.id, .asked(.init(PushNotification(), on: .init()))),
      row(.presented, app.id, .presented(["badge", "sound", "alert"])), row(.presented, app.id, .presented(["badge"])),
      row(.viewed, app.id), row(.closed, app.id, .answered("close")), row(.closed, app.id),
      row(.unsubscribed, app.id), row(.presented, other.id, .presented(["alert"])), row(.closed, nil),
      row(.presented, App.summary.id, .presented(["alert"])), row(.viewed, AppID(row: 99)),
    ])
    try await days.settle(isComplete: true)
    let standings = try await days.standings(since: Self.now)
    var expected = Standing()
    (expected.presented, expected.viewed, expected.closed, expected.unsubscribed) = (1, 1, 2, 1)
    #expect(standings[app.id] == expected)
    #expect(standings[other.id]?.presented == 1)
    #expect(standings.count == 2, "no row of an unknown app")
    #expect(try await days.standings(since: Self.now, of: other.id).keys.map(\.row) == [other.id.row])
  }

  @Test func `counts add up, also over the next start, and old days are removed`() async throws {
    let app = try await addApp()
    for at in [Self.now - 2 * Self.day, Self.now, Self.now] {
      log.append([row(.viewed, app.id, at: at)])
      try await days.settle(isComplete: true)
    }
    log.close()
    let next = DeliveryLog(path: folder.file("log.sqlite"), retention: 86_400 * 365 * 100, logger: .silent)
    let days = AppDays(store: store, log: next)
    try await days.settle(isComplete: true)
    #expect(try await days.standings(since: Self.now - 2 * Self.day)[app.id]?.viewed == 3)
    #expect(try await days.standings(since: Self.now - Self.day)[app.id]?.viewed == 2)
    try await days.trim(before: Self.now - Self.day)
    #expect(try await days.standings(since: 0)[app.id]?.viewed == 2)
    next.close()
  }

  @Test func `reports count by users, and leave with the app`() async throws {
    let app = try await addApp()
    for (number, person) in ["ada", "ada", "bob"].enumerated() {
      let (device, _) = try await registrations.enroll(name: "d\(number)", person: person)
      for at in [Self.now, Self.now + 1] {
        try await registrations.add(
          AdReport(at: at * 1_000, device: device.id, app: app.id, id: .number(Int(at - Self.now)), text: ""))
      }
    }
    log.append([row(.viewed, app.id)])
    try await days.settle(isComplete: true)
    let all = try await days.standings(since: Self.now)[app.id]
    #expect(all?.reported == 6 && all?.reporters == 2)
    #expect(try await days.standings(since: Self.now + 1, of: app.id)[app.id]?.reported == 3)
    try await registrations.remove(app.id)
    #expect(try await days.standings(since: 0).isEmpty)
    let rows = try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM app_day") }
    #expect(rows == 0)
  }
}
