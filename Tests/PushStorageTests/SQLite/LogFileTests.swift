import Foundation
import GRDB
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

/// The delivery log never affects the delivery of pushes.
@Suite(.timeLimit(.minutes(5))) struct LogFileTests {
  let folder: TemporaryFolder
  private var path: String { folder.file("log.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  /// The losses that the file reported.
  private final class Losses: Sendable {
    let all = Mutex<[LogFile.Loss]>([])
    var count: Int { all.withLock(\.count) }
  }

  private func file(_ losses: Losses = Losses()) -> LogFile {
    LogFile(path: path) { loss in losses.all.withLock { $0.append(loss) } }
  }

  private func add(_ count: Int, size: Int, last: Int64, to file: LogFile) throws {
    try file.access { queue in
      try queue.write { db in
        for _ in 0..<count {
          try db.execute(
            sql: "INSERT INTO batch (first, last, rows) VALUES (0, ?, zeroblob(?))", arguments: [last, size])
        }
      }
    }
  }

  private func count(_ file: LogFile) throws -> Int {
    try file.access { try $0.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") ?? 0 } }
  }

  private func kept() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains(".damaged-") }
  }

  private var size: Int {
    ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue ?? 0
  }

  @Test(arguments: ["cut in half", "its header", "a folder", "no database"])
  func `a damaged file is kept under another name, and a new one begun`(_ damage: String) throws {
    if damage != "a folder" { try add(50, size: 4000, last: 1, to: file()) }
    let whole = FileManager.default.contents(atPath: path) ?? Data()
    switch damage {
    case "cut in half": try whole.prefix(whole.count / 2 + 100).write(to: URL(filePath: path))
    case "its header": try (Data(repeating: 7, count: 200) + whole.dropFirst(200)).write(to: URL(filePath: path))
    case "a folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    default: try Data("nothing of a database".utf8).write(to: URL(filePath: path))
    }
    let losses = Losses()
    let file = file(losses)
    try add(1, size: 10, last: 2, to: file)
    #expect(try count(file) == 1)
    #expect(try kept().count == 1)
    #expect(losses.count == 1)
  }

  @Test func `a page that turns out to be damaged gives the file up once`() throws {
    try add(200, size: 3000, last: 1, to: file())
    let (losses, path) = (Losses(), path)
    let file = file(losses)
    let writer = try FileHandle(forWritingTo: URL(filePath: path))
    for page in 4..<40 {
      try writer.seek(toOffset: UInt64(page * 4096))
      try writer.write(contentsOf: Data(repeating: 0xDE, count: 4096))
    }
    try writer.close()
    #expect(throws: StoreError.self) {
      try file.access { try $0.read { _ = try Int64.fetchAll($0, sql: "SELECT sum(length(rows)) FROM batch") } }
    }
    #expect(try count(file) == 0)
    #expect(losses.count == 1)
    #expect(try kept().count == 1)
  }

  @Test func `a file that is deleted while it is open is begun anew`() throws {
    let losses = Losses()
    let file = file(losses)
    try add(3, size: 10, last: 1, to: file)
    for ending in ["", "-journal"] { try? FileManager.default.removeItem(atPath: path + ending) }
    try add(1, size: 10, last: 2, to: file)
    #expect(try count(file) == 1)
    #expect(losses.all.withLock { $0 } == [.deleted])
    #expect(try Int.fetchOne(DatabaseQueue(path: path), "SELECT count(*) FROM batch") == 1)
  }

  @Test func `what can't be opened is an error, and tried again`() throws {
    let missing = LogFile(path: folder.file("none/log.sqlite")) { _ in }
    #expect(throws: StoreError.self) { try missing.database() }
    try FileManager.default.createDirectory(atPath: folder.file("none"), withIntermediateDirectories: false)
    #expect(throws: Never.self) { try missing.database() }
  }

  @Test func `old batches go a few at a time, and the disk has their pages back`() throws {
    let file = file()
    try add(40, size: 30_000, last: 1, to: file)
    try add(2, size: 30_000, last: 100, to: file)
    let before = size
    var slices = 1
    while try file.trim(before: 50) { slices += 1 }
    #expect(slices == 3)
    #expect(try count(file) == 2)
    #expect(size < before / 4)
    let journal = try FileManager.default.attributesOfItem(atPath: path + "-journal")[.size] as? NSNumber
    #expect((journal?.intValue ?? 0) <= 1 << 20)
  }
}

extension Int {
  fileprivate static func fetchOne(_ queue: DatabaseQueue, _ sql: String) throws -> Int? {
    try queue.read { try Int.fetchOne($0, sql: sql) }
  }
}
