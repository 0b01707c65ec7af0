import Foundation
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct ScheduledBackupsTests {
  let target: TemporaryFolder
  let home: SQLiteHome
  /// 2026-11-23T02:24:51Z.
  let now: Int64 = 1_795_400_691

  init() throws { (target, home) = (try TemporaryFolder(), try SQLiteHome()) }

  var folder: String { target.file("backups") }

  func schedule(_ count: Int = 2) throws -> BackupSchedule {
    try #require(BackupSchedule("daily, keep \(count), to \(folder)"))
  }

  func backups(_ save: ScheduledBackups.Save? = nil) throws -> ScheduledBackups {
    let (store, state, now) = (home.store, StateFolder(home.folder.path), now)
    return ScheduledBackups(
      try schedule(), logger: .silent,
      save: save ?? { try Backup.write(store, state, to: $0, now: Date(timeIntervalSince1970: Double(now))) })
  }

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

  @Test func `one is made a day, and the oldest goes when the new one is there`() async throws {
    defer { home.mailbox.close() }
    let backups = try backups()
    for day in 0..<3 {
      for _ in 0..<2 { await backups.makeIfDue(at: now + Int64(day) * 86_400) }
    }
    #expect(backups.counts == (3, 0) && backups.problem == nil)
    #expect(names == ["pushgateway-20261124T022451Z.backup", "pushgateway-20261125T022451Z.backup"])
    let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + names[0])
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    _ = try Backup.restore(folder + "/" + names[0], into: StateFolder(target.file("state")))
  }

  @Test func `what can't be restored is removed, counts as none, and costs no older one`() async throws {
    defer { home.mailbox.close() }
    let (store, state) = (home.store, StateFolder(home.folder.path))
    let isBad = Mutex(false)
    let backups = try backups { path in
      let summary = try Backup.write(store, state, to: path, now: Date(timeIntervalSince1970: 0))
      if isBad.withLock({ $0 }) {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.truncate(atOffset: 8192)
      }
      return summary
    }
    for day in 0..<2 { await backups.makeIfDue(at: now + Int64(day) * 86_400) }
    let sound = names
    #expect(sound.count == 2)
    isBad.withLock { $0 = true }
    await backups.makeIfDue(at: now + 2 * 86_400)
    #expect(names == sound)
    #expect(backups.problem?.problem.hasPrefix("the scheduled backup failed: ") == true)
    #expect(backups.problem?.since == now + 2 * 86_400)
    // The next attempt is ten minutes later, not at the next check.
    isBad.withLock { $0 = false }
    await backups.makeIfDue(at: now + 2 * 86_400 + 599)
    #expect(names == sound && backups.counts == (2, 1))
    await backups.makeIfDue(at: now + 2 * 86_400 + 600)
    #expect(backups.counts == (3, 1) && backups.problem == nil && names.last! > sound.last!)
  }

  @Test func `after a failure a clock that is set back delays no attempt`() async throws {
    defer { home.mailbox.close() }
    let backups = try backups { _ in throw StoreError("the disk is full") }
    await backups.makeIfDue(at: now)
    await backups.makeIfDue(at: now + 599)
    #expect(backups.counts == (0, 1))
    await backups.makeIfDue(at: now - 3 * 3600)
    #expect(backups.counts == (0, 2))
  }

  @Test func `a folder that can't be made is a problem in one line`() async throws {
    defer { home.mailbox.close() }
    _ = try target.write([], "backups")
    let backups = try backups()
    await backups.makeIfDue(at: now)
    let words = try #require(backups.problem?.problem)
    #expect(words.contains(folder) && !words.contains("\n"))
  }

  @Test func `without a schedule nothing is made, and a new one holds at once`() async throws {
    defer { home.mailbox.close() }
    let backups = try backups()
    let schedule = try schedule()
    backups.configure(nil)
    await backups.makeIfDue(at: now)
    #expect(names.isEmpty)
    backups.configure(schedule)
    await backups.makeIfDue(at: now)
    #expect(names.count == 1)
  }

  @Test func `what a killed gateway left of a test goes`() async throws {
    defer { home.mailbox.close() }
    try FileManager.default.createDirectory(
      atPath: folder + "/pushgateway-restored-7/x", withIntermediateDirectories: true)
    try await backups().makeIfDue(at: now)
    #expect(names == ["pushgateway-20261123T022451Z.backup"])
  }
}
