import Foundation
import GRDB
import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

/// The positions of event targets in the delivery log: nothing is lost, also if rows are removed meanwhile.
@Suite(.timeLimit(.minutes(5))) struct EventCursorTests {
  let folder: TemporaryFolder
  private var path: String { folder.file("log.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  private func log() -> DeliveryLog { DeliveryLog(path: path, retention: 86_400 * 365 * 100, logger: .silent) }

  private func row(_ number: Int, device: Int64 = 1, app: Int64 = 1) -> DeliveryLog.Row {
    DeliveryLog.Row(
      at: Int64(1000 + number), event: .stored, id: .number(number), device: DeviceID(row: device),
      app: AppID(row: app))
  }

  /// Writes each part as a record of its own.
  private func write(_ parts: [[DeliveryLog.Row]], to log: DeliveryLog) async throws {
    for part in parts {
      log.append(part)
      _ = try await log.rows(.init(limit: 1))
    }
  }

  /// Returns the times of the next rows, and the cursor.
  private func next(
    _ log: DeliveryLog, _ query: DeliveryLog.Query = .init(), since: Int64 = 0
  ) async throws -> (times: [Int64], unsent: DeliveryLog.Unsent) {
    let unsent = try await log.unsent(for: "shop", since: since, query)
    return (unsent.records.map(\.row.at), unsent)
  }

  /// Sends the next rows, and returns their times.
  private func send(_ log: DeliveryLog, _ query: DeliveryLog.Query = .init()) async throws -> [Int64] {
    let (times, unsent) = try await next(log, query)
    let isBegun = try await log.begin(unsent.cursor, through: unsent.end)
    #expect(isBegun)
    try await log.finish(unsent.cursor)
    return times
  }

  @Test func `batches follow one another, and each row is sent once`() async throws {
    let log = log()
    defer { log.close() }
    try await write([(0..<3).map { row($0) }, (3..<5).map { row($0) }], to: log)
    let query = DeliveryLog.Query(limit: 2)
    for expected in [[1000, 1001], [1002, 1003], [1004], []] as [[Int64]] {
      let times = try await send(log, query)
      #expect(times == expected)
    }
    try await write([[row(9)]], to: log)
    let last = try await send(log, query)
    #expect(last == [1009])
  }

  @Test func `a batch that was begun has the same rows after a restart, and later ones follow`() async throws {
    let first = log()
    try await write([[row(0), row(1)]], to: first)
    let (_, unsent) = try await next(first)
    let isBegun = try await first.begin(unsent.cursor, through: unsent.end)
    #expect(isBegun)
    first.close()
    let second = log()
    defer { second.close() }
    try await write([[row(2)]], to: second)
    let again = try await next(second)
    #expect(again.times == [1000, 1001])
    #expect(again.unsent.end == unsent.end)
    #expect(again.unsent.cursor.series == unsent.cursor.series)
    try await second.finish(again.unsent.cursor)
    let later = try await next(second)
    #expect(later.times == [1002])
  }

  @Test func `a target gets no row from before its time, and only those of its apps and events`() async throws {
    let log = log()
    defer { log.close() }
    try await write([[row(0)], [row(1), row(2, app: 2), row(3)], [row(4, app: 3)]], to: log)
    var query = DeliveryLog.Query(events: [.stored])
    query.apps = [AppID(row: 1), AppID(row: 3)]
    let (times, unsent) = try await next(log, query, since: 1001)
    #expect(times == [1001, 1003, 1004])
    try await log.pass(unsent.cursor, to: unsent.end)
    query.events = [.accepted]
    try await write([[row(5)]], to: log)
    let none = try await next(log, query, since: 1001)
    #expect(none.times.isEmpty)
    #expect(none.unsent.end > none.unsent.cursor.position)
  }

  @Test func `rows that the retention removes are counted, and the next ones follow`() async throws {
    let log = log()
    defer { log.close() }
    try await write([[row(0)], [row(1), row(2)], [row(3)], [row(4)]], to: log)
    let sent = try await send(log, .init(limit: 2))
    #expect(sent == [1000, 1001])
    let (_, unsent) = try await next(log, .init(limit: 1))
    let isBegun = try await log.begin(unsent.cursor, through: unsent.end)
    #expect(isBegun)
    while try log.file.trim(before: 1004) {}
    let after = try await next(log)
    #expect(after.times == [1004])
    #expect(after.unsent.cursor.skipped == 2)
    #expect(after.unsent.cursor.pending == nil)
    // The answer to the request that was under way changes nothing.
    try await log.finish(unsent.cursor)
    let again = try await next(log)
    #expect(again.times == [1004])
  }

  @Test func `in an emptied log, whose numbers begin again, no row is passed over`() async throws {
    let first = self.log()
    try await write((0..<3).map { [row($0)] }, to: first)
    let sent = try await send(first)
    #expect(sent.count == 3)
    let (_, before) = try await next(first)
    first.close()
    let file = LogFile(path: path) { _ in }
    while try file.trim(before: .max) {}
    let log = self.log()
    defer { log.close() }
    try await write((10..<15).map { [row($0)] }, to: log)
    let (times, after) = try await next(log)
    #expect(times == [1010, 1011, 1012, 1013, 1014])
    #expect(after.cursor.series != before.cursor.series)
    #expect(after.cursor.skipped == 0)
  }

  @Test func `erased rows move the cursor, so that no other row is lost`() async throws {
    let log = log()
    defer { log.close() }
    let rows = (0..<7).map { row($0, device: [0, 2, 5].contains($0) ? 2 : 1) }
    try await write([rows], to: log)
    let sent = try await send(log, .init(limit: 3))
    #expect(sent == [1000, 1001, 1002])
    let (_, unsent) = try await next(log, .init(limit: 2))
    let isBegun = try await log.begin(unsent.cursor, through: unsent.end)
    #expect(isBegun)
    try await log.erase([2])
    let again = try await next(log)
    #expect(again.times == [1003, 1004])
    try await log.finish(again.unsent.cursor)
    let last = try await next(log)
    #expect(last.times == [1006])
  }

  @Test func `a batch that was read before an erasure is not begun`() async throws {
    let log = log()
    defer { log.close() }
    try await write([[row(0), row(1, device: 2), row(2)]], to: log)
    let (_, unsent) = try await next(log)
    try await log.erase([2])
    let isBegun = try await log.begin(unsent.cursor, through: unsent.end)
    #expect(!isBegun)
    let (times, _) = try await next(log)
    #expect(times == [1000, 1002])
  }

  @Test func `a new file has a new series, and the cursors of removed targets go`() async throws {
    let first = log()
    try await write([[row(0)]], to: first)
    let (_, unsent) = try await next(first)
    try await first.keepCursors(of: ["other"])
    let (times, again) = try await next(first)
    #expect(times == [1000])
    #expect(again.cursor.series != unsent.cursor.series)
    first.close()
  }

  @Test func `a follower is notified of each record, and of its end`() async throws {
    let log = log()
    defer { log.close() }
    let follower = log.follow()
    log.append([row(0)])
    await follower.next()
    log.append([row(1)])
    await follower.next()
    follower.end()
    await follower.next()
    await follower.next()
  }
}
