import Foundation
import GRDB
import Testing

@testable import PushGateway

@Suite struct SQLiteStoreTests {
  let folder: TemporaryFolder
  var path: String { folder.file("push.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  func failure() -> String {
    do throws(StoreError) {
      _ = try SQLiteStore(path: path)
      return "no failure"
    } catch {
      return error.description
    }
  }

  @Test func `a database is made, and opened again`() throws {
    _ = try SQLiteStore(path: path)
    let store = try SQLiteStore(path: path)
    let synchronous = try store.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    #expect(synchronous == 2)
    let mode = try store.pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
    #expect(mode == "wal")
  }

  @Test func `a database of a newer version is refused`() throws {
    let store = try SQLiteStore(path: path)
    try store.pool.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
    #expect(failure() == "\(path) was written by a newer pushcli: start that one, or restore an older backup")
  }

  @Test(arguments: [4096, 100_000])
  func `a file that is no database is refused in one line`(_ size: Int) throws {
    _ = try folder.write([UInt8](repeating: 0x41, count: size), "push.sqlite")
    let words = failure()
    #expect(words.hasPrefix("\(path) is damaged ("))
    #expect(words.hasSuffix("move it away and restore a backup, or start with an empty one"))
    #expect(!words.contains("\n"))
  }

  @Test func `a damaged database is refused in one line`() throws {
    do {
      let store = try SQLiteStore(path: path)
      try store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
      try store.pool.close()
    }
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    for place in 4096..<bytes.count { bytes[place] = 0xA5 }
    _ = try folder.write(bytes, "push.sqlite")
    let words = failure()
    #expect(words.hasPrefix("\(path) is damaged ("))
    #expect(!words.contains("\n"))
  }

  @Test func `a folder that is not there is refused in one line`() {
    let path = folder.file("nowhere/push.sqlite")
    let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error?.description == "\(path) can't be opened for writing: check the folder's owner and permissions")
  }
}
