import Foundation
import Glibc
import PushTesting
import Testing

@testable import PushCore

@Suite struct StateFolderTests {
  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  @Test func `one gateway alone uses a folder, until it gives it up`() throws {
    let temporary = try TemporaryFolder()
    let folder = StateFolder(temporary.path + "/state")
    do {
      let claim = try folder.claim()
      #expect(throws: StateFolder.Failure.self) { _ = try folder.claim() }
      withExtendedLifetime(claim) {}
    }
    _ = try folder.claim()
  }

  @Test func `a folder that was given up is free while a child process still holds the lock's descriptor`() throws {
    let temporary = try TemporaryFolder()
    let folder = StateFolder(temporary.path + "/state")
    var claim: StateFolder.Claim? = try folder.claim()
    let held = try #require(HeldDescriptor(of: folder.path + "/lock"))
    #expect(claim != nil)
    claim = nil
    _ = try folder.claim()
    withExtendedLifetime(held) {}
  }

  @Test func `a new folder, and those above it, are their owner's alone`() throws {
    let temporary = try TemporaryFolder()
    let folder = StateFolder(temporary.path + "/a/b")
    #expect(try folder.claim().hasNarrowed == false)
    #expect(mode(temporary.path + "/a") == 0o700)
    #expect(mode(folder.path) == 0o700)
    #expect(mode(folder.path + "/lock") == 0o600)
  }

  @Test(arguments: [0o755, 0o750, 0o701, 0o777, 0o1777] as [mode_t])
  func `an empty folder that is open to others is narrowed, and one with files is refused with what mends it`(
    _ open: mode_t
  ) throws {
    let temporary = try TemporaryFolder()
    let folder = StateFolder(temporary.path + "/state")
    #expect(unsafe mkdir(folder.path, 0o700) == 0 && chmod(folder.path, open) == 0)
    #expect(try folder.claim().hasNarrowed)
    #expect(mode(folder.path) == 0o700)
    #expect(unsafe chmod(folder.path, open) == 0)
    let failure = #expect(throws: StateFolder.Failure.self) { _ = try folder.claim() }
    #expect(failure?.description.contains("chmod 700 '\(folder.path)'") == true)
    #expect(unsafe chmod(folder.path, 0o700) == 0)
    #expect(try folder.claim().hasNarrowed == false)
  }

  @Test(.enabled(if: ServiceUser.isRoot, "only root can give a folder to another user"))
  func `root uses no folder of another user, and makes nothing there`() throws {
    let temporary = try TemporaryFolder()
    let folder = StateFolder(temporary.path + "/state")
    #expect(unsafe mkdir(folder.path, 0o700) == 0 && symlink(temporary.path + "/made", folder.path + "/lock") == 0)
    #expect(unsafe chown(folder.path, 4242, 4242) == 0)
    let failure = #expect(throws: StateFolder.Failure.self) { _ = try folder.claim() }
    #expect(failure?.description.contains("belongs to another user (user 4242)") == true)
    #expect(mode(temporary.path + "/made") == 0)
  }

  @Test func `what an earlier version left readable is narrowed, and nothing beyond a link`() throws {
    let temporary = try TemporaryFolder()
    let folder = StateFolder(temporary.path + "/state")
    _ = try folder.claim()
    let outside = try temporary.write(Array("x".utf8), "outside")
    #expect(unsafe chmod(outside, 0o644) == 0 && symlink(outside, folder.path + "/link") == 0)
    for path in [folder.databasePath, folder.logPath + "-wal", folder.keyPath, folder.trustPath] {
      try Data("x".utf8).write(to: URL(filePath: path))
      #expect(unsafe chmod(path, 0o644) == 0)
    }
    _ = try folder.claim()
    #expect([folder.databasePath, folder.logPath + "-wal", folder.keyPath].map(mode) == [0o600, 0o600, 0o600])
    #expect(mode(folder.trustPath) == 0o644)
    #expect(mode(outside) == 0o644)
  }
}

@Suite struct PrivateFileTests {
  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  @Test func `a file is its owner's alone, and nothing of that name is replaced or followed`() throws {
    let folder = try TemporaryFolder()
    try PrivateFile.create([1, 2], at: folder.file("key"))
    #expect(mode(folder.file("key")) == 0o600)
    #expect(try folder.read("key") == [1, 2])
    #expect(throws: SystemError(EEXIST)) { try PrivateFile.create([3], at: folder.file("key")) }
    #expect(unsafe symlink(folder.file("elsewhere"), folder.file("link")) == 0)
    #expect(throws: SystemError(EEXIST)) { try PrivateFile.create([3], at: folder.file("link")) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("elsewhere")))
  }

  @Test func `a file is replaced as a whole, whatever lies where its draft is written`() throws {
    let folder = try TemporaryFolder()
    let victim = try folder.write([9], "victim")
    #expect(unsafe symlink(victim, folder.file("key.new")) == 0)
    try PrivateFile.replace(folder.file("key"), with: [1])
    try PrivateFile.replace(folder.file("key"), with: [2], mode: 0o644)
    #expect(try folder.read("key") == [2])
    #expect(mode(folder.file("key")) == 0o644)
    #expect(try folder.read("victim") == [9])
    #expect(mode(folder.file("key.new")) == 0)
    #expect(throws: SystemError(ENOENT)) { try PrivateFile.replace(folder.file("no/key"), with: [1]) }
  }
}

@Suite struct ServiceUserTests {
  @Test func `users are found by name`() throws {
    #expect(try ServiceUser(name: "root").uid == 0)
    #expect(throws: SystemError(ENOENT)) { try ServiceUser(name: "no-such-user") }
  }
}
