import GRDB
import Glibc
import PushTesting
import Testing

@testable import PushStorage

@Suite struct PreparedStatementTests {
  private let queue: DatabaseQueue

  init() throws { queue = try DatabaseQueue() }

  /// Reads the value of an SQL expression with a statement without parameters.
  private func read<Value>(_ sql: String, _ body: (PreparedStatement) throws -> Value) throws -> Value {
    try queue.read { db in
      let statement = try PreparedStatement(db, "SELECT \(sql) AS amount")
      defer { statement.reset() }
      #expect(try statement.next())
      return try body(statement)
    }
  }

  /// Returns the error about a damaged value, or nil if the value is valid.
  private func words(_ sql: String, _ body: (PreparedStatement) throws -> Void) -> String? {
    do {
      try read(sql, body)
      return nil
    } catch {
      #expect(SQLiteStore.isDamage(error))
      return (error as? DatabaseError)?.message
    }
  }

  @Test(arguments: ["-1", "11", "9223372036854775807", "-9223372036854775808"])
  func `a number out of its range is damage`(_ sql: String) {
    let message = words(sql) { _ = try $0.integer(0, in: 0...10) }
    #expect(message == "the amount of a row: \(sql) is not between 0 and 10")
  }

  @Test(arguments: ["'7'", "x'37'", "7.0", "NULL"]) func `what is no whole number is damage`(_ sql: String) {
    #expect(words(sql) { _ = try $0.integer(0) } == "the amount of a row: expected a whole number")
  }

  @Test func `the bounds themselves are taken, and NULL where it may be`() throws {
    for (sql, value) in [("0", 0), ("10", 10)] as [(String, Int64)] {
      #expect(try read(sql) { try $0.integer(0, in: 0...10) } == value)
      #expect(try read(sql) { try $0.optionalInteger(0, in: 0...10) } == value)
    }
    #expect(try read("NULL") { try $0.optionalInteger(0) } == nil)
    #expect(try read("NULL") { try $0.optionalText(0) } == nil)
  }

  @Test func `other types are checked as well`() throws {
    #expect(try read("1.5") { try $0.real(0) } == 1.5)
    #expect(words("9e999") { _ = try $0.real(0) } != nil)
    #expect(words("'1.5'") { _ = try $0.real(0) } != nil)
    #expect(try read("'é'") { try $0.text(0) } == "é")
    #expect(words("x'41'") { _ = try $0.text(0) } != nil)
    #expect(try read("5") { try $0.priority(0) } == 5)
    #expect(words("6") { _ = try $0.priority(0) } != nil)
    #expect(try read("'[\"a\"]'") { try $0.json(0, as: [String].self) } == ["a"])
    #expect(words("'\(String(repeating: "[", count: 513))'") { _ = try $0.json(0, as: [String].self) } != nil)
  }

  @Test func `a statement does not run without a parameter that could not be bound, and goes on afterwards`() throws {
    try queue.write { db in
      try db.execute(sql: "CREATE TABLE thing (value)")
      let insert = try PreparedStatement(db, "INSERT INTO thing VALUES (?)")
      insert.bind(1)
      // There is no second parameter.
      insert.bind(2)
      #expect(throws: DatabaseError.self) { try insert.run() }
      insert.bind(text: "three")
      try insert.run()
      #expect(try String.fetchAll(db, sql: "SELECT value FROM thing") == ["three"])
    }
  }

  /// The memory is never read.
  @Test func `bytes that SQLite can't take are an error`() throws {
    let size = 1 << 31
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    guard let start = unsafe mmap(nil, size, PROT_READ, flags, -1, 0), unsafe start != MAP_FAILED else {
      Issue.record("no address space")
      return
    }
    defer { unsafe munmap(start, size) }
    try queue.write { db in
      let select = try PreparedStatement(db, "SELECT ?")
      unsafe select.bind(borrowed: UnsafeRawBufferPointer(start: start, count: size))
      let error = #expect(throws: DatabaseError.self) { try select.run() }
      #expect(error?.resultCode == .SQLITE_TOOBIG)
    }
  }
}
