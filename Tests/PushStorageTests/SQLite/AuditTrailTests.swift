import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct AuditTrailTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let audit: AuditTrail

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    audit = AuditTrail(store: store)
  }

  @Test func `what was asked is kept, with the beginning of its body and how it was answered`() async throws {
    let body = [UInt8](repeating: UInt8(ascii: "x"), count: 5000)
    let first = try await audit.record("DELETE", "/admin/v1/devices/phone", body: [], by: "ada (token, admin)", at: 1)
    let second = try await audit.record("POST", "/admin/v1/apps", body: body, by: nil, at: 2, status: 403)
    try await audit.note(status: 204, of: first)
    let records = try await AuditTrail(store: SQLiteStore(path: store.path)).records(before: nil, limit: 10)
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
}
