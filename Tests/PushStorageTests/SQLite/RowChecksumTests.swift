import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

/// Rows that differ from their checksum, on valid pages.
@Suite(.timeLimit(.minutes(5))) struct RowChecksumTests {
  let folder: TemporaryFolder
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("push.sqlite")
  }

  private func open(_ store: SQLiteStore? = nil) throws -> SQLiteMailbox {
    try SQLiteMailbox(
      store: store ?? SQLiteStore(path: path), cap: 100, logger: .silent, now: { 1_700_000_000 }, removed: { _ in })
  }

  /// Creates the file of a mailbox with three pushes.
  private func fill() async throws {
    let mailbox = try open()
    _ = await mailbox.append((1...3).map { samplePush($0) })
    mailbox.close()
  }

  private func change(_ sql: String) throws {
    // A closed connection releases the file a moment later.
    var configuration = GRDB.Configuration()
    configuration.busyMode = .timeout(30)
    try DatabaseQueue(path: path, configuration: configuration).writeWithoutTransaction { try $0.execute(sql: sql) }
  }

  @Test func `every column and every byte of a row counts`() {
    func sum(_ numbers: [Int64], _ bytes: [UInt8]) -> Int64 {
      var sum = RowChecksum()
      for number in numbers { sum.add(number) }
      unsafe bytes.withUnsafeBytes { unsafe sum.add($0) }
      return sum.value
    }
    let bytes = [UInt8](0..<27)
    var sums: Set<Int64> = [sum([1, 2], bytes), sum([2, 1], bytes), sum([1], bytes), sum([1, 2], [])]
    for place in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[place] ^= 1 << bit
        sums.insert(sum([1, 2], changed))
      }
      sums.insert(sum([1, 2], Array(bytes[..<place]) + [0]))
    }
    #expect(sums.count == 4 + 27 * 8 + 27)
  }

  @Test(arguments: [
    "payload = CAST(replace(CAST(payload AS TEXT), 'Platform', 'Rlatform') AS BLOB)", "priority = 5",
    "device = device + 1",
    "expires = expires + 1", "received = received + 1", "collapse_id = 'x'", "app = app + 1",
    "is_sender_id = 1 - is_sender_id",
    "unique_id = zeroblob(20)", "apns_id = zeroblob(20)", "checksum = checksum + 1",
  ])
  func `a changed row is found`(_ assignment: String) async throws {
    try await fill()
    #expect(throws: Never.self) { try SQLiteMailbox.checkSums(path: path) }
    try change(
      "UPDATE mailbox SET payload = CAST('{\"aps\":{\"alert\":\"Platform 4\"}}' AS BLOB), checksum = NULL WHERE id = 2")
    #expect(throws: Never.self, "an earlier version's") { try SQLiteMailbox.checkSums(path: path) }
    try change("UPDATE mailbox SET \(assignment) WHERE id = 1")
    if assignment.hasPrefix("payload") { try change("UPDATE mailbox SET payload = x'7b7d20' WHERE id = 1") }
    #expect(throws: StoreError.self) { try SQLiteMailbox.checkSums(path: path) }
    #expect(throws: StoreError.self) { try StoredRows.check(path: path) }
  }

  @Test func `a changed push is not delivered, the others are, and health says so`() async throws {
    try await fill()
    try change("UPDATE mailbox SET payload = CAST('{\"aps\":{\"alert\":\"Other\"}}' AS BLOB) WHERE id = 2")
    let mailbox = try open()
    #expect(mailbox.problem == nil)
    let found = try await mailbox.pending(for: 1, after: 0, limit: 10)
    #expect(found.entries.map(\.push.payload.isEmpty) == [false, true, false])
    #expect(mailbox.problem?.problem.contains("is damaged") == true)
    // The mailbox continues to store pushes.
    #expect(await mailbox.append([samplePush(4)]).map(\.seq) == [4])
    mailbox.close()
    let report = try DatabaseRepair.repair(path: path, stamp: "now")
    #expect(report.kept["mailbox"] == 3)
    #expect(throws: Never.self) { try StoredRows.check(path: path) }
  }

  @Test func `it is noticed while the gateway runs, also where nobody reads it`() async throws {
    try await fill()
    let store = try SQLiteStore(path: path)
    let watch = StoreWatch(store, logger: .silent, now: { 0 })
    await watch.look()
    #expect(watch.problem == nil)
    try change("UPDATE mailbox SET payload = CAST('{}' AS BLOB) WHERE id = 2; PRAGMA wal_checkpoint(TRUNCATE)")
    let other = StoreWatch(store, logger: .silent, now: { 0 })
    await other.look()
    #expect(other.problem?.problem.contains("fails its checksum") == true)
  }
}
