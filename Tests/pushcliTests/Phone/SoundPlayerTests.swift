import Foundation
import Glibc
import PushPolicy
import PushTesting
import Synchronization
import Testing

@testable import pushcli

@Suite struct SoundPlayerTests {
  @Test(arguments: ["", ".", "..", "../x", "a/b", "a\\b", "a..b", ".hidden", "a\u{0}b", "a\nb"])
  func `a name that is no bare file name plays nothing of ours (S1)`(_ name: String) {
    #expect(!SoundPlayer.isBareFileName(name))
  }

  @Test func `without a player the bell rings, at most once a second`() {
    let rings = Mutex(0)
    let player = SoundPlayer(folder: "/nowhere", searchPath: []) { rings.withLock { $0 += 1 } }
    let start = ContinuousClock.now
    #expect(player.play("default", now: start) == .bell)
    #expect(player.play("default", now: start + .milliseconds(999)) == .skipped)
    #expect(player.play("../../etc/passwd", now: start + .seconds(1)) == .bell)
    #expect(rings.withLock { $0 } == 2)
  }

  @Test func `the first player plays the person's own file, a built-in sound, or the default`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sounds-\(UUID())")
    let cache = folder.appending(path: "cache").path()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let second = try #require(SoundFile.builtIn("bell"))
    // The duration follows from the size in the header: 31 seconds.
    let size = UInt32(31 * 2 * 22_050)
    let long = second.prefix(40) + (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
    for name in ["mine.wav", "bell.oga"] { try Data(second).write(to: folder.appending(path: name)) }
    try (Data(long) + Data(count: Int(size))).write(to: folder.appending(path: "long.wav"))
    try Data("no sound".utf8).write(to: folder.appending(path: "text.wav"))
    for player in ["aplay", "paplay"] {
      try FileManager.default.createSymbolicLink(
        at: folder.appending(path: player), withDestinationURL: URL(filePath: "/bin/true"))
    }
    let path = folder.path()
    let player = SoundPlayer(folder: path, cache: cache, searchPath: [path]) {}
    #expect(player.command(for: "mine", volume: 50) == ["\(path)/paplay", "--volume=32768", "\(path)/mine.wav"])
    #expect(player.command(for: "bell")?.last == "\(path)/bell.oga")
    #expect(player.command(for: "chime", volume: 25) == ["\(path)/paplay", "--volume=65536", "\(cache)/chime-25.wav"])
    for name in ["long", "text.wav"] { #expect(player.command(for: name)?.last == "\(cache)/default-100.wav") }
    #expect(player.command(for: "nobody-has-this")?.last == "\(cache)/default-100.wav")
    #expect(FileManager.default.fileExists(atPath: "\(cache)/default-100.wav"))
    try FileManager.default.removeItem(at: folder.appending(path: "paplay"))
    #expect(player.command(for: "bell.wav") == ["\(path)/aplay", "-q", "\(cache)/bell-100.wav"])
    #expect(player.play("ding", volume: 0) == .skipped)
    #expect(player.play("ding") == .started(["\(path)/aplay", "-q", "\(cache)/ding-100.wav"]))
  }

  @Test(.timeLimit(.minutes(5)))
  func `a player that has ended is waited for without another sound`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sounds-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = folder.appending(path: "aplay")
    // The player runs until a line arrives in the pipe.
    let pipe = "\(folder.path())/end"
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    let end = try #require(FileHandle(forUpdatingAtPath: pipe))
    let script = "#!/bin/sh\nread -r line <\(pipe)\n"
    try Data(script.utf8).write(to: program)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path())
    let player = SoundPlayer(folder: folder.path(), cache: folder.path(), searchPath: [folder.path()]) {}
    let start = ContinuousClock.now
    #expect(player.play("ding", now: start) == .started([program.path(), "-q", "\(folder.path())/ding-100.wav"]))
    #expect(player.isPlaying)
    #expect(player.play("ding", now: start + .seconds(5)) == .skipped)
    try end.write(contentsOf: Data("end\n".utf8))
    await eventually { !player.isPlaying }
  }

  @Test func `what is more urgent comes when the second is over, once`() {
    let player = SoundPlayer(folder: "/nowhere", searchPath: []) {}
    let start = ContinuousClock.now
    #expect(player.play("pop", now: start) == .bell)
    #expect(player.play("pop", now: start) == .skipped)
    #expect(player.play("chime", urgency: .timeSensitive, now: start) == .postponed)
    #expect(player.play("bell", urgency: .timeSensitive, now: start) == .skipped)
    #expect(player.play("alarm", urgency: .critical, now: start) == .postponed)
    #expect(player.play("chime", urgency: .timeSensitive, now: start) == .skipped)
  }

  @Test(
    arguments: [
      ([:], nil), (["HOME": ""], nil), (["HOME": "/h"], "/h/.cache/pushgateway/sounds"),
      (["HOME": "/h", "XDG_CACHE_HOME": ""], "/h/.cache/pushgateway/sounds"),
      (["HOME": "/h", "XDG_CACHE_HOME": "/c"], "/c/pushgateway/sounds"),
    ] as [([String: String], String?)])
  func `folders are in the home that the environment names`(_ environment: [String: String], _ folder: String?) {
    let expected = folder ?? NSHomeDirectory() + "/.cache/pushgateway/sounds"
    #expect(SoundPlayer.folder("XDG_CACHE_HOME", ".cache", environment) == expected)
  }

  @Test func `every phone has ten sounds of its own`() {
    #expect(
      SoundFile.builtIns.keys.sorted() == [
        "alarm", "bell", "chime", "default", "ding", "failure", "knock", "pop", "success", "whisper",
      ])
    #expect(SoundFile.builtIn("nobody-has-this") == nil)
  }

  @Test(arguments: SoundFile.builtIns.keys.sorted())
  func `a built-in sound is short, is heard, is softer when it is turned down, and is no other (S2)`(_ name: String)
    throws
  {
    let file = try #require(SoundFile.builtIn(name))
    let length = try #require(SoundFile.length(head: file, tail: file, size: file.count))
    #expect((0.1...1).contains(length))
    func loudest(_ file: [UInt8]) -> Int {
      stride(from: SoundFile.builtInHeadSize, to: file.count, by: 2).map {
        abs(Int(Int16(bitPattern: UInt16(file[$0]) | UInt16(file[$0 + 1]) << 8)))
      }.max() ?? 0
    }
    #expect((5_000..<32_768).contains(loudest(file)))
    let softer = try #require(SoundFile.builtIn(name, volume: 50))
    #expect(softer.prefix(SoundFile.builtInHeadSize) == file.prefix(SoundFile.builtInHeadSize))
    #expect(abs(loudest(softer) * 4 - loudest(file)) <= 4)
    for (other, content) in SoundFile.builtIns where other != name { #expect(content != file) }
  }
}
