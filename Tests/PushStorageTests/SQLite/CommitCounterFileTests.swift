import Foundation
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct CommitCounterFileTests {
  /// Returns a copy of the files of a killed gateway, with its write-ahead log as changed by `damage`.
  private func killed(_ home: SQLiteHome, _ damage: (inout Data) -> Void) throws -> TemporaryFolder {
    let copy = try TemporaryFolder()
    for name in ["push.sqlite", "push.sqlite-wal", "push.sqlite.commits"] {
      var bytes = try Data(contentsOf: URL(fileURLWithPath: home.folder.file(name)))
      if name.hasSuffix("-wal") { damage(&bytes) }
      try bytes.write(to: URL(fileURLWithPath: copy.file(name)))
    }
    home.mailbox.close()
    return copy
  }

  private func filled() async throws -> SQLiteHome {
    let home = try SQLiteHome()
    for number in 1...30 { _ = await home.mailbox.append([samplePush(number)]) }
    return home
  }

  @Test func `what a whole log holds is not missed`() async throws {
    let later = try SQLiteHome(folder: try killed(try await filled()) { _ in })
    defer { later.mailbox.close() }
    #expect(later.mailbox.loss == nil)
    #expect(later.mailbox.waitingCount(for: 1) == 30)
  }

  @Test func `a log that was cut off is noticed, once`() async throws {
    var later = try SQLiteHome(folder: try killed(try await filled()) { $0.removeLast($0.count / 2) })
    let loss = try #require(later.mailbox.loss)
    let lost = 30 - later.mailbox.waitingCount(for: 1)
    #expect(lost > 0 && loss.problem.contains(": \(lost) commits are lost"))
    later = try later.reopened()
    defer { later.mailbox.close() }
    #expect(later.mailbox.loss == nil)
  }

  @Test func `noise in the log is noticed`() async throws {
    let later = try SQLiteHome(
      folder: try killed(try await filled()) { bytes in
        for index in bytes.count / 2..<bytes.count / 2 + 100 { bytes[index] ^= 0x5A }
      })
    defer { later.mailbox.close() }
    #expect(later.mailbox.loss != nil)
  }

  @Test func `a mark that is none says nothing`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write([UInt8](repeating: 0xFF, count: 100), "mark")
    let mark = try #require(CommitCounterFile(path: folder.file("mark")))
    #expect(mark.number == 0)
    mark.note(7)
    #expect(CommitCounterFile(path: folder.file("mark"))?.number == 7)
    #expect(CommitCounterFile(path: folder.file("none/mark")) == nil)
  }
}
