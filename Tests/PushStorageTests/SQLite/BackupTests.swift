import Foundation
import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct BackupTests {
  @Test func `a running gateway is saved, and goes on elsewhere as it was then`() async throws {
    let (home, target) = (try SQLiteHome(), try TemporaryFolder())
    let folder = StateFolder(home.folder.path)
    _ = try home.folder.write(Array("key".utf8), "AuthKey_X.p8")
    _ = try home.folder.write(Array("half".utf8), "server.pem.new")
    try FileManager.default.createDirectory(atPath: folder.devicesPath, withIntermediateDirectories: true)
    _ = try home.folder.write(Array("12\n".utf8), "devices/me.cursor")
    _ = await home.mailbox.append((1...5).map { samplePush($0) })
    home.mailbox.acknowledge(1, through: 2)
    await home.mailbox.settle()
    let file = target.file("a.backup")
    let summary = try Backup.write(home.store, folder, to: file, now: Date(timeIntervalSince1970: 0))
    #expect(summary.created == "1970-01-01T00:00:00Z")
    #expect(summary.files == 2)
    // Three of the five pushes, and the push that `settle()` appended for another device.
    #expect(summary.waiting == 4)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
    #expect(mode?.intValue == 0o600)
    // Later pushes are not in the backup.
    _ = await home.mailbox.append([samplePush(9)])
    home.mailbox.close()

    let restored = StateFolder(target.file("state"))
    _ = try Backup.restore(file, into: restored)
    #expect(FileManager.default.contents(atPath: restored.path + "/AuthKey_X.p8") == Data("key".utf8))
    #expect(FileManager.default.contents(atPath: restored.devicesPath + "/me.cursor") == Data("12\n".utf8))
    #expect(!FileManager.default.fileExists(atPath: restored.path + "/server.pem.new"))
    let store = try SQLiteStore(path: restored.databasePath)
    #expect(try await store.pool.read { try $0.tableExists("backup_file") } == false)
    let clock = TestClock()
    let mailbox = try SQLiteMailbox(
      store: store, cap: 100, logger: .silent, now: { clock.seconds }, removed: { _ in })
    defer { mailbox.close() }
    #expect(try await mailbox.waiting() == [3, 4, 5])
    // The device has received number 6, which this gateway has not used: its numbers continue after 6.
    #expect(try await mailbox.pending(for: 1, after: 6, limit: 10).entries.map(\.seq) == [7, 8, 9])
  }

  @Test func `of what waits twice in a cell one is in its backup, and numbers go on after the cell's`() async throws {
    let (home, target) = (try SQLiteHome(), try TemporaryFolder())
    defer { home.mailbox.close() }
    let device = try await SQLiteRegistrations(store: home.store).enroll(name: "phone", person: "ada").device.id
    let file = target.file("a.backup")
    let summary = try await Backup.write(
      home.store, StateFolder(home.folder.path), to: file, now: Date(),
      waiting: { mailbox in
        let pushes: [(UInt64, StoredPush)] = [
          (5, samplePush(1, to: device)), (6, samplePush(1, to: device)), (7, samplePush(2, to: device, collapse: "a")),
          (9, samplePush(3, to: device, collapse: "a")), (10, samplePush(4, to: 99)),
        ]
        for (seq, push) in pushes { try mailbox.append([MailboxEntry(seq: seq, push: push)]) }
        try mailbox.set(MailboxGap(from: 2, to: 4, dropped: 3), of: device)
        try mailbox.finish(20)
      })
    #expect(summary.waiting == 2)
    let restored = StateFolder(target.file("state"))
    _ = try Backup.restore(file, into: restored)
    let mailbox = try SQLiteMailbox(
      store: try SQLiteStore(path: restored.databasePath), cap: 100, logger: .silent, now: { TestClock.start },
      removed: { _ in })
    defer { mailbox.close() }
    let pending = try await mailbox.pending(for: device, after: 0, limit: 10)
    #expect(pending.entries.map(\.seq) == [5, 9] && pending.gap == MailboxGap(from: 2, to: 4, dropped: 3))
    #expect(await mailbox.append([samplePush(5, to: device)]).first?.seq == 21)
  }

  @Test func `a cell's backup that breaks off leaves nothing`() async throws {
    let (home, target) = (try SQLiteHome(), try TemporaryFolder())
    defer { home.mailbox.close() }
    let error = await #expect(throws: StoreError.self) {
      try await Backup.write(
        home.store, StateFolder(home.folder.path), to: target.file("a"), now: Date(),
        waiting: { _ in throw StoreError("the cluster does not answer") })
    }
    #expect(error?.description == "the cluster does not answer")
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).isEmpty)
  }

  @Test func `a file that is too large for a backup is named`() throws {
    let (home, target) = (try SQLiteHome(), try TemporaryFolder())
    defer { home.mailbox.close() }
    let large = try home.folder.write([], "large")
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: large))
    try handle.truncate(atOffset: UInt64(Limits.maximumSavedFileSize) + 1)
    let error = #expect(throws: StoreError.self) {
      try Backup.write(home.store, StateFolder(home.folder.path), to: target.file("a"), now: Date())
    }
    #expect(error?.description.contains("large has 536870913 bytes") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).isEmpty)
  }

  @Test func `only a backup is replaced, and nothing beside it`() throws {
    let (home, target) = (try SQLiteHome(), try TemporaryFolder())
    defer { home.mailbox.close() }
    let folder = StateFolder(home.folder.path)
    func write(to path: String) throws { _ = try Backup.write(home.store, folder, to: path, now: Date()) }
    let (letter, link, backup) = (target.file("letter"), target.file("link"), target.file("a.backup"))
    try Data("dear".utf8).write(to: URL(fileURLWithPath: letter))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: letter)
    try Data("half".utf8).write(to: URL(fileURLWithPath: backup + ".new"))
    for path in [letter, link, target.path, home.store.path] {
      let error = #expect(throws: StoreError.self) { try write(to: path) }
      #expect(error?.description.contains("exists and is not a backup") == true)
    }
    #expect(FileManager.default.contents(atPath: letter) == Data("dear".utf8))
    for _ in 0..<2 { try write(to: backup) }
    #expect(FileManager.default.contents(atPath: backup + ".new") == Data("half".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).count == 4)
  }

  @Test func `a folder that holds a gateway is not overwritten`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    let file = home.folder.file("a.backup")
    _ = try Backup.write(home.store, StateFolder(home.folder.path), to: file, now: Date())
    let other = try TemporaryFolder()
    _ = try SQLiteStore(path: StateFolder(other.path).databasePath)
    let error = #expect(throws: StoreError.self) { try Backup.restore(file, into: StateFolder(other.path)) }
    #expect(error?.description.contains("holds a gateway already") == true)
  }

  @Test func `what is no backup is refused in one line`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    let target = StateFolder(home.folder.file("state"))
    for path in [home.folder.file("nothing"), try home.folder.write(Array("words".utf8), "letter"), home.store.path] {
      let error = #expect(throws: StoreError.self) { try Backup.restore(path, into: target) }
      #expect(error?.description.contains(path) == true)
      #expect(error?.description.contains("\n") == false)
    }
    #expect(!FileManager.default.fileExists(atPath: target.databasePath))
  }

  @Test(arguments: [
    "(NULL, 384, x'00')", "('a', -1, x'00')", "('a', 'text', x'00')", "('a', 9223372036854775807, x'00')",
    "('', 384, x'00')", "('development.json', 384, '[')",
    "('development.json', 384, '\(String(repeating: "[", count: 513))')",
  ])
  func `a file that no backup holds is refused in one line`(_ row: String) async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    let file = home.folder.file("a.backup")
    _ = try Backup.write(home.store, StateFolder(home.folder.path), to: file, now: Date())
    let queue = try DatabaseQueue(path: file)
    try await queue.write { db in
      try db.execute(
        sql: """
          DROP TABLE backup_file; CREATE TABLE backup_file (path, mode, content);
          INSERT INTO backup_file VALUES \(row)
          """)
    }
    try queue.close()
    let target = StateFolder(home.folder.file("state"))
    let error = #expect(throws: StoreError.self) { try Backup.restore(file, into: target) }
    #expect(error?.description.contains(file) == true && error?.description.contains("\n") == false)
    #expect(!FileManager.default.fileExists(atPath: target.databasePath))
  }

  @Test func `a name that leads out of the folder is refused, and nothing is a gateway then`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    let file = home.folder.file("a.backup")
    _ = try Backup.write(home.store, StateFolder(home.folder.path), to: file, now: Date())
    let queue = try DatabaseQueue(path: file)
    try await queue.write { try $0.execute(sql: "INSERT INTO backup_file VALUES ('../evil', 384, x'00')") }
    try queue.close()
    let target = StateFolder(home.folder.file("state"))
    #expect(throws: StoreError.self) { try Backup.restore(file, into: target) }
    #expect(!FileManager.default.fileExists(atPath: home.folder.file("evil")))
    #expect(!FileManager.default.fileExists(atPath: target.databasePath))
  }

  @Test func `files of a backup are the owner's alone, and what runs by itself is refused`() async throws {
    let home = try SQLiteHome()
    defer { home.mailbox.close() }
    let file = home.folder.file("a.backup")
    _ = try Backup.write(home.store, StateFolder(home.folder.path), to: file, now: Date())
    func change(_ sql: String) async throws {
      let queue = try DatabaseQueue(path: file)
      try await queue.write { try $0.execute(sql: sql) }
      try queue.close()
    }
    try await change("INSERT INTO backup_file VALUES ('ca.key', 511, x'00'), ('devices/a.json', 2559, x'00')")
    // This file is written a second time, with the path of its key in the new folder.
    let development = StateFolder.Development(teamID: "T", keyID: "K", keyPath: "/old/AuthKey_K.p8", topic: "a.b")
    let text = String(decoding: try JSONEncoder().encode(development), as: UTF8.self)
    try await change("INSERT INTO backup_file VALUES ('development.json', 511, CAST('\(text)' AS BLOB))")
    let target = StateFolder(home.folder.file("state"))
    _ = try Backup.restore(file, into: target)
    for name in ["ca.key", "devices/a.json", "development.json"] {
      let mode = try FileManager.default.attributesOfItem(atPath: target.path + "/" + name)[.posixPermissions]
      #expect((mode as? NSNumber)?.intValue == 0o600)
    }
    try await change("CREATE TRIGGER odd AFTER INSERT ON team BEGIN DELETE FROM team; END")
    let other = StateFolder(home.folder.file("other"))
    let error = #expect(throws: StoreError.self) { try Backup.restore(file, into: other) }
    #expect(error?.description.contains("unknown object") == true)
    #expect(!FileManager.default.fileExists(atPath: other.databasePath))
  }
}
