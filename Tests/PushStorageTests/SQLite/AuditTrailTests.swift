import GRDB
import Logging
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct AuditTrailTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let audit: AuditTrail
  private let lines = LoggedLines()

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    audit = AuditTrail(store: store, logger: lines.logger)
  }

  /// The names of the events that a trail has logged.
  private final class LoggedLines: Sendable {
    private let names = Mutex<[String]>([])

    var all: [String] { names.withLock { $0 } }
    var logger: Logger {
      Logger(label: "audit") { _ in
        DeliveryLogTests.LineKeeper { line in
          self.names.withLock { $0.append(line[LoggedEvent.field].map { "\($0)" } ?? "") }
        }
      }
    }
  }

  @Test func `what was asked is kept, with the beginning of its body and how it was answered`() async throws {
    let body = [UInt8](repeating: UInt8(ascii: "x"), count: 5000)
    let first = try await audit.record("DELETE", "/admin/v1/devices/phone", body: [], by: "ada (token, admin)", at: 1)
    let second = try await audit.record("POST", "/admin/v1/apps", body: body, by: nil, at: 2, status: 403)
    await audit.note(status: 204, of: first)
    let reopened = AuditTrail(store: try SQLiteStore(path: store.path), logger: .silent)
    let records = try await reopened.records(before: nil, limit: 10)
    #expect(records.map(\.number) == [first, second])
    #expect(records.map(\.status) == [204, 403])
    #expect(records.map(\.who) == ["ada (token, admin)", nil])
    #expect(records.map(\.body.utf8.count) == [0, Limits.maximumAuditedBody])
    #expect(try await audit.records(before: second, limit: 10).map(\.number) == [first])
    #expect(try await audit.records(before: nil, limit: 1).map(\.number) == [second])
  }

  @Test func `the oldest are forgotten`() async throws {
    try await store.pool.write { db in
      try db.execute(
        sql: "INSERT INTO audit VALUES (1, 1, 'GET', '/', '', NULL, NULL), (?, 1, 'GET', '/', '', NULL, NULL)",
        arguments: [Limits.maximumAuditRecords])
    }
    let number = try await audit.record("POST", "/", body: [], by: nil, at: 1)
    #expect(number == Limits.maximumAuditRecords + 1)
    #expect(try await audit.records(before: nil, limit: 10).count == 2)
  }

  @Test(arguments: [true, false])
  func `a status whose write fails is logged once, and the next write or the maintenance repeats it`(
    _ isNextWrite: Bool
  ) async throws {
    let first = try await audit.record("DELETE", "/admin/v1/devices/phone", body: [], by: nil, at: 1)
    let second = try await audit.record("POST", "/admin/v1/apps", body: [], by: nil, at: 2)
    try await RefusedWrites.begin("audit", "UPDATE", in: store.path)
    await audit.note(status: 204, of: first)
    await audit.note(status: 201, of: second)
    #expect(try await audit.records(before: nil, limit: 10).map(\.status) == [nil, nil])
    #expect(lines.all == ["audit-not-stored"])
    try await RefusedWrites.end("audit", in: store.path)
    let third = try await audit.record("POST", "/admin/v1/teams", body: [], by: nil, at: 3)
    if isNextWrite { await audit.note(status: 409, of: third) } else { await audit.settle() }
    #expect(
      try await audit.records(before: nil, limit: 10).map(\.status) == [204, 201, isNextWrite ? 409 : nil])
    #expect(lines.all == ["audit-not-stored"])
    // Another failure is another event.
    try await RefusedWrites.begin("audit", "UPDATE", in: store.path)
    await audit.note(status: 500, of: third)
    #expect(lines.all == ["audit-not-stored", "audit-not-stored"])
  }

  @Test func `the record of an executed request is written later, in its order, if its write fails`() async throws {
    try await RefusedWrites.begin("audit", in: store.path)
    for name in ["laptop", "phone"] {
      await audit.note(
        executed: "POST", "/v1/devices", body: Array(name.utf8), by: "an invitation", at: 1, status: 201)
    }
    #expect(try await audit.records(before: nil, limit: 10).isEmpty)
    try await RefusedWrites.end("audit", in: store.path)
    await audit.settle()
    let records = try await audit.records(before: nil, limit: 10)
    #expect(records.map(\.body) == ["laptop", "phone"] && records.map(\.status) == [201, 201])
    #expect(records.map(\.who) == ["an invitation", "an invitation"])
  }

  @Test func `the oldest late additions are dropped beyond the limit, which is logged`() async throws {
    try await RefusedWrites.begin("audit", in: store.path)
    for number in 0...Limits.maximumLateAuditAdditions {
      await audit.note(
        executed: "POST", "/v1/devices", body: Array("\(number)".utf8), by: nil, at: 1, status: 201)
    }
    #expect(lines.all == ["audit-not-stored", "audit-not-stored"])
    try await RefusedWrites.end("audit", in: store.path)
    await audit.settle()
    let records = try await audit.records(before: nil, limit: 2 * Limits.maximumLateAuditAdditions)
    #expect(records.count == Limits.maximumLateAuditAdditions && records.first?.body == "1")
  }
}
