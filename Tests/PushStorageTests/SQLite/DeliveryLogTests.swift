import Foundation
import GRDB
import Logging
import PushPolicy
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct DeliveryLogTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  func log() throws -> DeliveryLog {
    DeliveryLog(path: folder.file("log.sqlite"), retention: 86_400 * 365 * 100, logger: .silent)
  }

  func row(
    _ number: Int, _ event: DeliveryEvent = .stored, device: DeviceID? = 1, app: AppID? = 1,
    detail: DeliveryDetail = .nothing
  ) -> DeliveryLog.Row {
    DeliveryLog.Row(
      at: Int64(1000 + number), event: event, id: .number(number), device: device, app: app, detail: detail)
  }

  @Test func `every row comes back as it was`() {
    var batch = LogBatch()
    let rows =
      DeliveryEvent.allCases.enumerated().map { row($0, $1, detail: .fault(name: "détail 👋", effect: "\($1)")) }
      + [row(50, device: nil, app: nil), row(51, detail: .words(String(repeating: "x", count: 70_000)))]
    for row in rows { batch.append(row) }
    #expect(batch.count == rows.count)
    #expect(batch.first == 1000)
    #expect(batch.last == 1051)
    let read = LogBatch.rows(batch.bytes).map(\.row)
    #expect(read.map(\.event) == rows.map(\.event))
    #expect(read.map(\.at) == rows.map(\.at))
    #expect(read.map(\.id.description) == rows.map(\.id.description))
    #expect(read.map(\.device) == rows.map(\.device))
    #expect(read.map(\.app) == rows.map(\.app))
    #expect(read.dropLast().map(\.detail) == rows.dropLast().map(\.detail))
    #expect(read.last?.detail.words.utf8.count == 65_535)
    // A truncated batch returns its complete rows.
    #expect(LogBatch.rows(Array(batch.bytes.prefix(200))).count < rows.count)
  }

  @Test func `each event has a code and a counter of its own`() {
    #expect(Set(LogBatch.events) == Set(DeliveryEvent.allCases))
    var batch = LogBatch()
    for (number, event) in LogBatch.events.enumerated() { batch.append(row(number, event)) }
    #expect(batch.counts.indices.map { batch.counts[$0] } == LogBatch.events.map { _ in 1 })
  }

  @Test func `a text comes back with its row, cut between two characters, and can be taken out`() {
    var batch = LogBatch()
    let long = AlertPresentation(title: "é" + String(repeating: "é", count: 400), body: "gone")
    let cases: [(DeliveryLog.Row, AlertPresentation?)] = [
      (row(1, .transmitted, detail: .held(3)), AlertPresentation(title: "Platform 4", body: "Boards at 14:03")),
      (row(2, .transmitted, device: 2), AlertPresentation(title: "T", subtitle: "S", body: "B")),
      (row(3, .accepted, detail: .fact(.deviceOffline)), nil), (row(4, .transmitted), AlertPresentation()),
      (row(5, .transmitted, device: 2, detail: .words(String(repeating: "x", count: 70_000))), long), (row(6), long),
    ]
    for (place, (row, text)) in cases.enumerated() {
      batch.append(row, keeping: text, isForSenders: place.isMultiple(of: 2))
    }
    func check(_ bytes: [UInt8], _ texts: [String?]) {
      let read = LogBatch.rows(bytes)
      #expect(read.map(\.row.id) == cases.map(\.0.id) && read.map(\.row.device) == cases.map(\.0.device))
      #expect(read.prefix(4).map(\.row.detail) == cases.prefix(4).map(\.0.detail))
      #expect(read.map(\.text?.text) == texts)
      #expect(read.allSatisfy { $0.text?.isForSenders ?? $0.index.isMultiple(of: 2) == $0.index.isMultiple(of: 2) })
    }
    let cut = String(repeating: "é", count: Limits.maximumKeptText / 2)
    check(batch.bytes, ["Platform 4\nBoards at 14:03", "T\nS\nB", nil, nil, nil, cut])
    let rest = LogBatch.bytes(batch.bytes, without: [2], onlyTexts: true)
    check(rest ?? [], ["Platform 4\nBoards at 14:03", nil, nil, nil, nil, cut])
    #expect(LogBatch.bytes(batch.bytes, without: [7], onlyTexts: true) == nil)
    // A truncated or damaged batch returns the rows that can be decoded.
    for size in 0..<min(600, batch.bytes.count) { _ = LogBatch.rows(Array(batch.bytes.prefix(size))) }
    for place in 0..<300 {
      var damaged = Array(batch.bytes.prefix(300))
      damaged[place] ^= 0xFF
      _ = LogBatch.rows(damaged)
      _ = LogBatch.bytes(damaged, without: [1, 2], onlyTexts: true)
    }
  }

  @Test func `a failure is known, and over when the file takes pages again`() async throws {
    let log = try log()
    defer { log.close() }
    var configuration = GRDB.Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: folder.file("log.sqlite"), configuration: configuration)
    try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    log.append([row(1)])
    _ = try await log.rows(.init())
    #expect(log.problem?.part == "delivery-log")
    try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    // Without an event to log, the log retries automatically.
    await eventually { log.problem == nil }
    log.append([row(2)])
    #expect(try await log.rows(.init()).map(\.row.event) == [.lost, .stored])
  }

  @Test func `lost rows are counted, have one row of their own, and logging goes on`() async throws {
    // While the folder is missing, no file can be opened.
    let place = folder.file("none")
    let log = DeliveryLog(path: place + "/log.sqlite", retention: 86_400 * 365 * 100, logger: .silent)
    defer { log.close() }
    let lost = try #require(DeliveryLog.countedEvents.firstIndex(of: .lost))
    let times = Mutex<[Int64]>([])
    log.afterLoss { time in times.withLock { $0.append(time) } }
    for part in 1...2 {
      for number in 1...3 {
        log.append([row(number), row(number, .expired)])
        _ = try? await log.rows(.init())
      }
      #expect(log.problem != nil)
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
      log.append([row(10)])
      let rows = try await log.rows(.init()).map(\.row)
      #expect(rows.map(\.event) == [.lost, .stored] && log.problem == nil)
      guard case .lost(6, let since)? = rows.first?.detail else {
        Issue.record("\(rows)")
        return
      }
      #expect(times.withLock { $0 }.map { Timestamp.text($0) }.last == since)
      #expect(times.withLock { $0 }.count == part)
      #expect(rows.first?.detail.words == "6 events were not logged since \(since)")
      #expect(log.events.totals[lost] == UInt64(6 * part))
      try FileManager.default.removeItem(atPath: place)
    }
  }

  @Test func `a unique id comes back, and a detail that is too long makes room for it`() throws {
    var batch = LogBatch()
    var (short, long) = (
      row(1, .accepted, detail: .held(3)),
      row(2, .refused, detail: .finding(.init(rule: "A9", pointer: "", message: String(repeating: "x", count: 70_000))))
    )
    (short.uniqueID, long.uniqueID) = (.number(11), .number(12))
    for row in [short, long, row(3)] { batch.append(row) }
    let read = LogBatch.rows(batch.bytes).map(\.row)
    #expect(read.map(\.uniqueID) == [.number(11), .number(12), nil])
    #expect(read.map(\.event) == [.accepted, .refused, .stored])
    #expect(read[0].detail == .held(3) && read[1].detail.words.utf8.count == 65_515)
  }

  /// The details of frequent events take one byte after the fixed part: the size of a push's rows must not grow
  /// unnoticed.
  @Test func `the usual details are one byte, and none is none`() throws {
    for (detail, size) in [
      (.nothing, 47), (.fact(.fromStorage), 48), (.asked(try #require(RequestedPresentation("badge sound alert"))), 48),
    ] as [(DeliveryDetail, Int)] {
      var batch = LogBatch()
      batch.append(row(1, .transmitted, detail: detail))
      #expect(batch.bytes.count == size)
      #expect(LogBatch.rows(batch.bytes).map(\.row.detail) == [detail])
    }
  }

  /// One row of each event in the format of the previous version.
  @Test func `rows of the version before are read as facts`() throws {
    let stored: [(DeliveryEvent, UInt8, String, DeliveryDetail)] = [
      (.accepted, 0, "", .nothing), (.accepted, 0, "3 held", .held(3)),
      (.accepted, 0, "channel dHN0LXNyY2gtY2hubA==", .channel("dHN0LXNyY2gtY2hubA==")),
      (
        .refused, 1, #"report only: B1 /aps/badge: a badge is a whole number ["-1"]"#,
        .finding(
          .init(
            rule: "B1", pointer: "/aps/badge", message: #"a badge is a whole number ["-1"]"#, isReportOnly: true))
      ), (.stored, 2, "device offline", .fact(.deviceOffline)), (.collapsed, 3, "", .nothing),
      (.transmitted, 4, "sound alert", .asked(try #require(RequestedPresentation("sound alert")))),
      (
        .transmitted, 4, "alert; passive; silent; focus a; category b; c",
        .asked(try #require(RequestedPresentation("alert; passive; silent; focus a; category b; c")))
      ), (.acknowledged, 5, "from storage", .fact(.fromStorage)),
      (.presented, 6, "badge alert", .presented(["badge", "alert"])),
      (
        .suppressed, 7, "sound N6 apps/a/categories/x; y/sound; alert N7 quiet/0",
        .removed([
          .init(part: .sound, rule: .n6, setting: "apps/a/categories/x; y/sound"),
          .init(part: .alert, rule: .n7, setting: "quiet/0"),
        ])
      ), (.viewed, 8, "", .nothing), (.closed, 9, "close", .answered("close")),
      (.action, 10, "unregistered", .answered("unregistered")), (.expired, 11, "", .nothing),
      (.dropped, 12, "not connected", .fact(.notConnected)), (.dropped, 12, "unregistered", .fact(.unregistered)),
      (.dropped, 12, "device lags", .fact(.deviceLags)), (.dropped, 12, "the mailbox is full", .fact(.mailboxFull)),
      (
        .ignored, 13, "aps /aps/sound: has to be a string",
        .finding(.init(rule: "aps", pointer: "/aps/sound", message: "has to be a string"))
      ),
      (
        .fault, 14, "slow: told: 500 InternalServerError", .fault(name: "slow", effect: "told: 500 InternalServerError")
      ),
      (.undeliverable, 15, "the payload can't be read", .fact(.unreadable)),
      (.dropped, 12, "who knows", .words("who knows")),
    ]
    var bytes: [UInt8] = []
    for (_, code, detail, _) in stored {
      bytes += [1, 0, 0, 0, 0, 0, 0, 0, code] + [UInt8](repeating: 0, count: 20)
      bytes += [7, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 255, count: 8)
      bytes += [UInt8(detail.utf8.count), 0] + Array(detail.utf8)
    }
    let read = LogBatch.rows(bytes).map(\.row)
    try #require(read.count == stored.count)
    for (row, (event, _, words, detail)) in zip(read, stored) {
      #expect(row.event == event && row.device == 7 && row.app == nil)
      #expect(row.detail == detail)
      #expect(row.detail.words == words)
    }
  }

  @Test func `a row with a time that no clock shows is left out`() {
    var batch = LogBatch()
    for at in [Int64.min, -1, 5, Limits.maximumTime * 1000 + 1, .max] {
      var row = row(1)
      row.at = at
      batch.append(row)
    }
    #expect(LogBatch.rows(batch.bytes).map(\.row.at) == [5])
  }

  @Test func `whatever number a batch has, it is read or left out`() async throws {
    let log = try log()
    defer { log.close() }
    log.append([row(1)])
    _ = try await log.rows(.init())
    var batch = LogBatch()
    batch.append(row(2))
    let other = try DatabaseQueue(path: folder.file("log.sqlite"))
    try await other.write { [batch] db in
      for number in [Int64.min, -1, 1 << 43 - 1, 1 << 43, .max] {
        try db.execute(
          sql: "INSERT INTO batch VALUES (?, ?, ?, ?)",
          arguments: [number, batch.first, batch.last, Data(batch.bytes)])
      }
      try db.execute(sql: "INSERT INTO batch VALUES (5, 2000, 2000, 'text'), (6, 'a', 'b', 7)")
    }
    #expect(try await log.rows(.init()).map(\.row.at) == [1001, 1002])
    #expect(try await log.rows(.init(after: -5)).count == 2)
    #expect(try await log.push(named: .number(2))?.id == .number(2))
  }

  @Test func `a reader gets the rows that were in a buffer when it asked`() async throws {
    let log = try log()
    defer { log.close() }
    let buffer = Mutex<DeliveryLog.Row?>(row(1))
    log.beforeReading { if let row = buffer.withLock({ $0.take() }) { log.append([row]) } }
    #expect(try await log.rows(.init(id: .number(1))).map(\.row.event) == [.stored])
    #expect(try await log.page(.init()).records.count == 1)
  }

  @Test func `a push is found by either of its ids`() async throws {
    let log = try log()
    defer { log.close() }
    var rows = [row(1, .accepted, device: 7), row(1, .accepted, device: 8)]
    (rows[0].uniqueID, rows[1].uniqueID) = (.number(11), .number(12))
    log.append(rows)
    #expect(try #require(try await log.push(named: .number(11))) == (.number(1), 7))
    #expect(try #require(try await log.push(named: .number(12))) == (.number(1), 8))
    let own = try #require(try await log.push(named: .number(1)))
    #expect(own.id == .number(1) && own.device == nil)
    #expect(try await log.push(named: .number(13)) == nil)
  }

  @Test(
    arguments: [
      (.accepted, .nothing, .received), (.stored, .fact(.deviceOffline), .storedOffline), (.stored, .nothing, nil),
      (.acknowledged, .nothing, .delivered), (.acknowledged, .fact(.fromStorage), .deliveredFromStorage),
      (.expired, .nothing, .expired), (.dropped, .fact(.notConnected), .expired),
      (.dropped, .fact(.mailboxFull), nil), (.dropped, .fact(.unregistered), .unregisteredFromStorage),
      (.suppressed, .removed([.init(part: .sound, rule: .s4, setting: "silent")]), nil),
      (.suppressed, .removed([.init(part: .alert, rule: .n6, setting: "apps/a/categories/notifications/alert")]), nil),
      (
        .suppressed,
        .removed([Part.badge, .alert].map { .init(part: $0, rule: .n5, setting: "apps/a.b/notifications") }), .disabled
      ), (.suppressed, .removed([.init(part: .badge, rule: .n4, setting: "notifications")]), .disabled),
      (.transmitted, .nothing, nil),
    ] as [(DeliveryEvent, DeliveryDetail, DeliveryStatus?)])
  func `a row has the status that the real service's log would have`(
    _ event: DeliveryEvent, _ detail: DeliveryDetail, _ status: DeliveryStatus?
  ) {
    #expect(DeliveryStatus(row(1, event, detail: detail)) == status)
  }

  @Test func `a reader finds what it asks for, the newest when there is more`() async throws {
    let log = try log()
    defer { log.close() }
    for start in stride(from: 0, to: 300, by: 100) {
      log.append((start..<start + 100).map { row($0, device: $0.isMultiple(of: 3) ? 2 : 1, app: $0 > 250 ? 7 : 1) })
      // Each part becomes its own batch.
      _ = try await log.rows(.init(limit: 1))
    }
    func times(_ query: DeliveryLog.Query) async throws -> [Int] {
      try await log.rows(query).map { Int($0.row.at) - 1000 }
    }
    #expect(try await times(.init()) == Array(0..<300))
    #expect(try await times(.init(limit: 5)) == [295, 296, 297, 298, 299])
    #expect(try await times(.init(id: .number(150))) == [150])
    #expect(try await times(.init(device: 2, limit: 2)) == [294, 297])
    #expect(try await times(.init(app: 7)) == Array(251..<300))
    #expect(try await times(.init(since: 1298)) == [298, 299])
    #expect(try await times(.init(events: [.dropped])) == [])
    #expect(try await times(.init(events: [.dropped, .stored], limit: 1)) == [299])
    let middle = try #require(try await log.rows(.init(id: .number(199))).first)
    #expect(try await times(.init(after: middle.number, limit: 1000)) == Array(200..<300))
    let numbers = try await log.rows(.init()).map(\.number)
    #expect(numbers == numbers.sorted() && Set(numbers).count == 300)
  }

  @Test func `a log that was written ahead before a crash is taken over`() async throws {
    let (old, copy) = (folder.file("old.sqlite"), folder.file("log.sqlite"))
    var batch = LogBatch()
    for number in 0..<5 { batch.append(row(number)) }
    let other = try DatabaseQueue(path: old)
    try await other.writeWithoutTransaction { [batch] db in
      try db.execute(
        sql: """
          PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
          CREATE TABLE batch (
            number INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL, rows BLOB NOT NULL)
          """)
      try db.execute(
        sql: "INSERT INTO batch (first, last, rows) VALUES (?, ?, ?)",
        arguments: [batch.first, batch.last, Data(batch.bytes)])
    }
    // The files after a crash: no rows have been moved yet.
    for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: old + suffix, toPath: copy + suffix) }
    let log = try log()
    log.append([row(5)])
    #expect(try await log.rows(.init()).map(\.row.at) == Array(1000...1005))
    log.close()
    #expect(!FileManager.default.fileExists(atPath: copy + "-wal"))
  }

  @Test func `rows are there after closing and opening, and old ones go`() async throws {
    let first = try log()
    first.append([row(1)])
    first.close()
    let second = try log()
    #expect(try await second.rows(.init()).count == 1)
    second.close()
    let third = DeliveryLog(path: folder.file("log.sqlite"), retention: 60, logger: .silent)
    defer { third.close() }
    #expect(try await third.rows(.init()).isEmpty)
  }

  @Test func `a file that is too large loses its oldest rows, and gets shorter on the disk`() async throws {
    let path = folder.file("log.sqlite")
    func size() throws -> Int { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0 }
    let first = try log()
    let detail = DeliveryDetail.words(String(repeating: "x", count: 60_000))
    for part in 0..<12 {
      var batch = LogBatch()
      for number in 0..<50 { batch.append(row(part * 50 + number, .accepted, detail: detail)) }
      first.append(&batch)
      await first.settle()
    }
    first.close()
    let before = try size()
    #expect(before > 32 << 20)
    let maximum = 16 << 20
    let second = DeliveryLog(
      path: path, retention: 86_400 * 365 * 100, maximumSize: Int64(maximum), logger: .silent)
    // Each call makes the writer check the size again.
    while try size() > maximum { await second.settle() }
    let kept = try await second.rows(.init(limit: 1000)).map(\.row.at)
    #expect(kept.max() == 1599 && kept.count > 100 && kept.min()! > 1000)
    #expect(Set(kept).count == kept.count && kept.count == Int(kept.max()! - kept.min()!) + 1)
    // The size stays below the limit when more rows are added.
    for part in 0..<8 {
      var batch = LogBatch()
      for number in 0..<50 { batch.append(row(1000 + part * 50 + number, .accepted, detail: detail)) }
      second.append(&batch)
      await second.settle()
    }
    while try size() > maximum { await second.settle() }
    // Changed settings take effect at once.
    second.keep(retention: 60, maximumSize: nil)
    while try await !second.rows(.init()).isEmpty { await second.settle() }
    second.close()
  }

  @Test(arguments: [Logger.Level.debug, .info])
  func `at debug each stage of a push is logged, and no text of it`(_ level: Logger.Level) throws {
    let lines = Mutex<[Logger.Metadata]>([])
    var logger = Logger(label: "log") { _ in LineKeeper { line in lines.withLock { $0.append(line) } } }
    logger.logLevel = level
    let log = DeliveryLog(path: folder.file("log.sqlite"), retention: 86_400, logger: logger)
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    log.append([
      row(1, .accepted), row(1, .traced, detail: .trace(parent)), row(1, .stored, detail: .fact(.deviceOffline)),
      row(
        1, .suppressed, detail: .finding(.init(rule: "A9", pointer: "/aps", message: "secret", evidence: ["secret"]))),
    ])
    log.close()
    guard level == .debug else { return #expect(lines.withLock { $0 }.isEmpty) }
    let said = lines.withLock { $0.map { $0.filter { $0.key != "event" }.mapValues { "\($0)" } } }
    let id = "\(APNSID.number(1))"
    #expect(
      said == [
        ["id": id, "stage": "accepted"],
        ["id": id, "stage": "traced", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"],
        ["id": id, "stage": "stored", "detail": "device offline"], ["id": id, "stage": "suppressed"],
      ])
  }

  /// A log handler that passes messages to a test.
  struct LineKeeper: LogHandler {
    var take: @Sendable (Logger.Metadata) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(take: @escaping @Sendable (Logger.Metadata) -> Void) { self.take = take }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: Logging.LogEvent) { take(event.metadata ?? [:]) }
  }

  @Test func `more bytes than may wait are dropped, and what waits becomes records of a bounded size`() async throws {
    let log = try log()
    let detail = DeliveryDetail.words(String(repeating: "x", count: 60_000))
    var (tooMuch, enough) = (LogBatch(), LogBatch())
    for number in 0..<300 { tooMuch.append(row(number, detail: detail)) }
    for number in 0..<250 { enough.append(row(number, .accepted, detail: detail)) }
    #expect(tooMuch.bytes.count > Limits.maximumLogBacklogSize && enough.bytes.count < Limits.maximumLogBacklogSize)
    log.append(&tooMuch)
    #expect(tooMuch.count == 0)
    log.append(&enough)
    let records = try await log.rows(.init(limit: 1000))
    guard case .lost(300, _)? = records.first?.row.detail else {
      Issue.record("\(records.count) rows, and none about the lost ones")
      return
    }
    #expect(records.dropFirst().map(\.row.id) == (0..<250).map { APNSID.number($0) })
    #expect(records.dropFirst().allSatisfy { $0.row.event == .accepted })
    #expect(zip(records, records.dropFirst()).allSatisfy { $0.number < $1.number })
    log.close()
    let sizes = try await DatabaseQueue(path: folder.file("log.sqlite")).read {
      try Int.fetchAll($0, sql: "SELECT length(rows) FROM batch")
    }
    #expect(sizes.count >= 4)
    #expect(sizes.allSatisfy { $0 <= Limits.maximumLogBatchSize })
  }

  @Test(arguments: [1, 47, 48, 100, 1000, 100_000])
  func `a batch is cut between rows, and nothing is lost`(_ size: Int) {
    var batch = LogBatch()
    for number in 0..<20 { batch.append(row(number, detail: .words(String(repeating: "x", count: number * 13)))) }
    let pieces = batch.pieces(of: size)
    #expect(pieces.flatMap { Array(batch.bytes[$0]) } == batch.bytes)
    for piece in pieces {
      let rows = LogBatch.rows(Array(batch.bytes[piece]))
      #expect(!rows.isEmpty && (piece.count <= size || rows.count == 1))
    }
    #expect(pieces.flatMap { LogBatch.rows(Array(batch.bytes[$0])).map(\.row.id) } == (0..<20).map { .number($0) })
    #expect(LogBatch().pieces(of: size).isEmpty)
  }

  @Test func `a search reads the newest so many bytes, and nothing beyond them`() async throws {
    let log = try log()
    defer { log.close() }
    for number in 0..<3 {
      log.append([row(number)])
      // Each becomes its own record.
      _ = try await log.rows(.init(limit: 1))
    }
    func found(atMost size: Int) async throws -> [Int64] {
      try await log.rows(.init(maximumReadSize: size)).map(\.row.at)
    }
    #expect(try await found(atMost: 1) == [1002])
    #expect(try await found(atMost: 48) == [1001, 1002])
    #expect(try await found(atMost: .max) == [1000, 1001, 1002])
    #expect(try await log.push(named: .number(0))?.id == .number(0))
    #expect(try await log.push(named: .number(0), atMost: 48) == nil)
    #expect(try await log.push(named: .number(1), atMost: 48)?.id == .number(1))
  }

  @Test(arguments: [(Int64.max, 0), (1 << 30, 5), (5, -1), (Int64.min, Int64.min), (0, Int64.max)] as [(Int64, Int64)])
  func `a search after one row and before another one finds what is between, or nothing`(
    _ after: Int64, _ before: Int64
  ) async throws {
    let log = try log()
    defer { log.close() }
    log.append([row(1)])
    let found = try await log.rows(.init(after: after, before: before))
    #expect(found.count == (after == 0 ? 1 : 0))
  }
}
