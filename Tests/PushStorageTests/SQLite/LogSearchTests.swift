import Foundation
import GRDB
import PushPolicy
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

/// Searches in the delivery log: their results, the data that is read for them, and the notification about new rows.
@Suite(.timeLimit(.minutes(5))) struct LogSearchTests {
  let folder: TemporaryFolder
  private var path: String { folder.file("log.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  private func log() -> DeliveryLog { DeliveryLog(path: path, retention: 86_400 * 365 * 100, logger: .silent) }

  /// Returns two rows for each push, for ten devices and three apps.
  private func rows(_ numbers: Range<Int>) -> [DeliveryLog.Row] {
    numbers.flatMap { number in
      [DeliveryEvent.accepted, .stored].map { event in
        DeliveryLog.Row(
          at: Int64(1000 + number), event: event, id: .number(number),
          uniqueID: event == .accepted ? .number(1_000_000_000 + number) : nil,
          device: DeviceID(row: Int64(number / 1000 % 10)), app: AppID(row: Int64(number % 3)))
      }
    }
  }

  /// Fills a log with some groups of batches, and some batches outside of a group.
  private func fill(_ log: DeliveryLog, pushes: Int = 20_000) async throws {
    for start in stride(from: 0, to: pushes, by: 500) {
      log.append(rows(start..<start + 500))
      // Each part becomes its own batch.
      _ = try await log.rows(.init(limit: 1))
    }
  }

  @Test func `a push is found by its text, by those whom it is for`() async throws {
    let log = log()
    defer { log.close() }
    var batch = LogBatch()
    for (number, title, body) in [(1, "Train in 5 Minutes", "Platform 4"), (2, "Zug", "GLEIS VIER"), (3, "", "train")] {
      let row = DeliveryLog.Row(
        at: Int64(1000 + number), event: .transmitted, id: .number(number), device: DeviceID(row: Int64(number % 2)),
        app: 1)
      batch.append(row, keeping: AlertPresentation(title: title, body: body), isForSenders: number == 3)
    }
    log.append(&batch)
    func found(_ text: String, _ access: @escaping @Sendable (DeviceID) -> TextAccess = { _ in .all }) async throws
      -> [String?]
    {
      var query = DeliveryLog.Query(events: [.transmitted])
      (query.text, query.textAccess) = (text, access)
      return try await log.rows(query).map(\.text)
    }
    #expect(try await found("TRAIN") == ["Train in 5 Minutes\nPlatform 4", "\ntrain"])
    #expect(try await found("gleis v") == ["Zug\nGLEIS VIER"])
    #expect(try await found("bus").isEmpty)
    #expect(try await found("train") { $0 == DeviceID(row: 0) ? .all : .none }.isEmpty)
    // A text that was stored while senders had no access to it stays inaccessible to them.
    #expect(try await found("train") { _ in .forSenders } == ["\ntrain"])
    // Without the right to read texts a search returns none, even without a search text.
    let rows = try await log.rows(DeliveryLog.Query())
    #expect(rows.count == 3 && rows.allSatisfy { $0.text == nil })
    try await log.eraseTexts(of: [DeviceID(row: 1)])
    #expect(try await found("") == ["Zug\nGLEIS VIER"])
    #expect(try await log.rows(DeliveryLog.Query()).count == 3)
  }

  private func query(_ sql: String) throws -> [Int] {
    try DatabaseQueue(path: path).read { try Int.fetchAll($0, sql: sql) }
  }

  private func change(_ sql: String) throws { try DatabaseQueue(path: path).write { try $0.execute(sql: sql) } }

  @Test func `a filter knows what was added, and one in a hundred others`() {
    for count in [0, 1, 10, 1000, 11_000] {
      var filter = LogFilter()
      for key in 0..<count { filter.insert(LogKey.device(Int64(key))) }
      let bytes = filter.bytes
      func mayContain(_ key: Int) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe LogFilter.mayContain(LogKey.device(Int64(key)), in: $0) }
      }
      #expect((0..<count).allSatisfy(mayContain))
      #expect((count..<count + 10_000).count(where: mayContain) < 300)
      #expect(bytes.count <= max(64, count * 3))
    }
    for strange in [[], [1, 2, 3], [UInt8](repeating: 0, count: 24)] as [[UInt8]] {
      #expect(unsafe strange.withUnsafeBytes { unsafe LogFilter.mayContain(7, in: $0) })
    }
  }

  @Test func `a search finds the same with groups and without`() async throws {
    let log = log()
    defer { log.close() }
    try await fill(log)
    let groups = try query("SELECT last_batch FROM batch_group ORDER BY first_batch")
    #expect(groups.count >= 5)
    let middle = try #require(try await log.rows(.init(id: .number(9000))).first).number
    let queries: [DeliveryLog.Query] =
      [0, 499, 9999, 19_999, 20_000].map { .init(id: .number($0)) }
      + [
        .init(device: 3, limit: 100_000), .init(device: 3, limit: 7), .init(app: 2, since: 15_000),
        .init(id: .number(4000), device: 4), .init(id: .number(4000), device: 5), .init(since: 20_500),
        .init(device: 4, after: middle, limit: 100_000), .init(device: 4, before: middle, limit: 100_000),
        .init(events: [.stored], limit: 10),
      ]
    func answers() async throws -> [[Int64]] {
      var answers: [[Int64]] = []
      for query in queries {
        answers.append(try await log.rows(query).map(\.number))
        answers.append(try await log.page(query).records.map(\.number))
        answers.append([try await log.start(of: query)])
      }
      for number in [5, 12_000, 19_999, 30_000] {
        answers.append([Int64(try await log.push(named: .number(1_000_000_000 + number))?.device?.row ?? -1)])
      }
      return answers
    }
    let grouped = try await answers()
    #expect(grouped.count { !$0.isEmpty } > 30)
    try change("DELETE FROM batch_group WHERE first_batch % 2 = 0")
    #expect(try await answers() == grouped)
    try change("DELETE FROM batch_group")
    #expect(try await answers() == grouped)
  }

  @Test func `a search at the far end reads a fifth of the log, and without groups it does not get there`() async throws
  {
    let log = log()
    defer { log.close() }
    try await fill(log, pushes: 50_000)
    let size = try #require(try query("SELECT sum(length(rows)) FROM batch").first)
    let filters = try #require(try query("SELECT sum(length(filter)) FROM batch_group").first)
    #expect(filters < size / 30)
    func find() async throws -> [APNSID?] {
      [
        try await log.push(named: .number(40), atMost: size / 5)?.id,
        try await log.rows(.init(device: DeviceID(row: 0), app: 1, since: 0, maximumReadSize: size / 3)).first?.row.id,
        try await log.rows(.init(id: .number(1), maximumReadSize: size / 5)).first?.row.id,
      ]
    }
    #expect(try await find().allSatisfy { $0 != nil })
    try change("DELETE FROM batch_group")
    #expect(try await find()[0] == nil)
  }

  @Test func `groups go with their batches, and a stop leaves no batch without one`() async throws {
    let first = log()
    try await fill(first, pushes: 10_000)
    first.close()
    #expect(try query("SELECT max(number) FROM batch") == (try query("SELECT max(last_batch) FROM batch_group")))
    let file = LogFile(path: path) { _ in }
    while try file.trim(before: 9000) {}
    let left = try query("SELECT min(number) FROM batch")
    #expect(try query("SELECT min(last_batch) >= \(left[0]) FROM batch_group") == [1])
    while try file.trim(before: .max) {}
    #expect(try query("SELECT count(*) FROM batch_group") == [0])
    // The numbers begin again.
    let second = log()
    defer { second.close() }
    second.append(rows(0..<1))
    #expect(try await second.rows(.init(id: .number(0))).count == 2)
  }

  @Test func `groups of a log that an older version emptied are forgotten`() async throws {
    let first = log()
    try await fill(first, pushes: 2_000)
    first.close()
    try change("DELETE FROM batch")
    let second = log()
    defer { second.close() }
    second.append(rows(7..<8))
    #expect(try await second.rows(.init(id: .number(7))).count == 2)
    #expect(try query("SELECT count(*) FROM batch_group") == [0])
  }

  @Test func `pages follow one another without a gap, from where the newest so many begin`() async throws {
    let log = log()
    defer { log.close() }
    try await fill(log, pushes: 5_000)
    func read(after: Int64, _ query: DeliveryLog.Query) async throws -> [Int64] {
      var (query, numbers) = (query, [Int64]())
      query.after = after
      while true {
        let page = try await log.page(query)
        numbers += page.records.map(\.number)
        guard !page.records.isEmpty else { return numbers }
        query.after = page.next
      }
    }
    let all = try await log.rows(.init(limit: 100_000)).map(\.number)
    #expect(all.count == 10_000)
    #expect(try await read(after: 0, .init(limit: 333)) == all)
    #expect(try await read(after: 0, .init(limit: 1000)) == all)
    let start = try await log.start(of: .init(limit: 4321))
    #expect(try await read(after: start, .init(limit: 500)) == Array(all.suffix(4321)))
    #expect(try await log.start(of: .init(limit: 10_001)) == 0)
    let ofDevice = try await log.rows(.init(device: 2, limit: 100_000)).map(\.number)
    #expect(try await read(after: 0, .init(device: 2, limit: 77)) == ofDevice)
  }

  @Test func `a number that the log has not given out yet is of another file: everything comes after it`() async throws
  {
    let log = log()
    defer { log.close() }
    #expect(try await log.page(.init()).records.isEmpty)
    log.append(rows(0..<3))
    let page = try await log.page(.init(after: 1 << 50))
    #expect(page.records.count == 6)
    #expect(try await log.page(.init(after: page.next)).records.isEmpty)
  }

  // MARK: Waiting

  @Test func `who waits is told what happens, and what has happened before at once`() async throws {
    let log = log()
    defer { log.close() }
    log.append(rows(1..<2))
    let before = try #require(try await log.nextPage(.init(id: .number(1)), within: .seconds(60)))
    #expect(before.records.map(\.row.event) == [.accepted, .stored])
    let query = DeliveryLog.Query(id: .number(1), events: [.viewed], after: before.next)
    async let awaited = log.nextPage(query, within: .seconds(60))
    // Rows of other pushes, and other events of the same push, do not end the wait.
    log.append(rows(2..<5) + rows(1..<2))
    log.append([.init(at: 5, event: .viewed, id: .number(1), device: 1, app: 1)])
    let after = try #require(try await awaited)
    #expect(after.records.map(\.row.event) == [.viewed])
  }

  @Test func `a wait is over in time, and when nobody wants to know any longer`() async throws {
    let log = log()
    defer { log.close() }
    log.append(rows(1..<2))
    let page = try #require(try await log.nextPage(.init(device: 77), within: .milliseconds(20)))
    #expect(page.records.isEmpty && page.next > 0)
    let wait = Task { try await log.nextPage(.init(id: .number(99)), within: .seconds(3600)) }
    wait.cancel()
    #expect(try await wait.value?.records.isEmpty == true)
  }

  @Test func `more rows than so many do not wait to be written`() {
    let log = log()
    defer { log.close() }
    var batch = LogBatch()
    let row = DeliveryLog.Row(at: 0, event: .accepted, id: .number(1), device: 1)
    for _ in 0...Limits.maximumLogBacklog { batch.append(row) }
    #expect(batch.bytes.count < Limits.maximumLogBacklogSize)
    log.append(&batch)
    #expect(batch.count == 0)
    #expect(log.limits.totals.reduce(0, +) == UInt64(Limits.maximumLogBacklog) + 1)
    #expect(log.waitingCount == 0)
  }

  @Test func `more than so many do not wait`() async throws {
    let waits = LogWaits()
    let waiting = (0..<Limits.maximumLogWaits).map { waits.begin($0.isMultiple(of: 2) ? .number($0) : nil) }
    #expect(waiting.allSatisfy { $0 != nil })
    #expect(waits.begin(nil) == nil)
    for case let wait? in waiting { waits.end(wait) }
    let wait = try #require(waits.begin(nil))
    waits.end(wait)
  }

  @Test func `a device has a few waits, all devices half, and administrators always some`() throws {
    let waits = LogWaits()
    let each = Limits.maximumDeviceLogWaits
    let first = (0..<each).map { waits.begin(.number($0), for: 1) }
    #expect(first.allSatisfy { $0 != nil })
    #expect(waits.begin(.number(1), for: 1) == nil)
    waits.end(try #require(first[0]))
    #expect(waits.begin(nil, for: 1) != nil)
    for number in each..<Limits.maximumLogWaits / 2 {
      #expect(waits.begin(nil, for: DeviceID(row: Int64(1 + number / each))) != nil)
    }
    #expect(waits.begin(nil, for: 1_000) == nil)
    for _ in 0..<Limits.maximumLogWaits / 2 { #expect(waits.begin(nil) != nil) }
    #expect(waits.begin(nil) == nil)
  }

  @Test func `a wait that was notified before it began to wait goes on at once`() async {
    let wait = LogWaits.Wait(nil, for: nil)
    wait.notify()
    await wait.next()
    wait.end()
    await wait.next()
    await wait.next()
    #expect(wait.isOver)
  }

  // MARK: Readers and the writer

  @Test func `searches cost the writer no row, however many rows there are`() async throws {
    let log = log()
    defer { log.close() }
    final class Flag: Sendable { let isSet = Atomic<Bool>(false) }
    let isOver = Flag()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          repeat {
            _ = try? await log.rows(.init(events: [.undeliverable]))
            _ = try? await log.push(named: .number(2_000_000_000))
          } while !isOver.isSet.load(ordering: .relaxed)
        }
      }
      let batch = rows(0..<2000)
      for _ in 0..<25 {
        // Appends no faster than the writer takes rows: more rows than that would be dropped even without a search.
        await eventually { log.waitingCount <= Limits.maximumLogBacklog / 2 }
        log.append(batch)
      }
      isOver.isSet.store(true, ordering: .relaxed)
    }
    #expect(log.limits.totals.allSatisfy { $0 == 0 })
    let newest = try await log.rows(.init(limit: .max))
    #expect(newest.count == 25 * 4000)
    #expect(log.problem == nil)
  }

  @Test func `a search goes on while another program reads the file, and so does the writer`() async throws {
    let log = log()
    defer { log.close() }
    log.append(rows(0..<10))
    _ = try await log.rows(.init())
    var configuration = GRDB.Configuration()
    configuration.readonly = true
    let reader = try DatabaseQueue(path: path, configuration: configuration)
    let count = try await reader.read { db in
      // The writer waits for this read, and then writes.
      log.append(self.rows(10..<11))
      return try Int.fetchOne(db, sql: "SELECT count(*) FROM batch")
    }
    #expect(count == 1)
    #expect(try await log.rows(.init(id: .number(10))).count == 2)
    #expect(log.problem == nil)
  }
}
