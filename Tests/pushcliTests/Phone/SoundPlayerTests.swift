import Foundation
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

  @Test func `the first player with a file plays it, and an unknown name plays the default`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sounds-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["chime.wav", "bell.oga", "default.wav"] { try Data().write(to: folder.appending(path: name)) }
    try FileManager.default.createSymbolicLink(
      at: folder.appending(path: "aplay"),
      withDestinationURL: URL(filePath: "/bin/true")
    )
    let path = folder.path()
    let player = SoundPlayer(folder: path, searchPath: [path]) {}
    #expect(player.command(for: "chime") == ["\(path)/aplay", "-q", "\(path)/chime.wav"])
    #expect(player.command(for: "chime.wav")?.last == "\(path)/chime.wav")
    #expect(player.command(for: "bell") == nil)
    #expect(player.play("bell") == .started(["\(path)/aplay", "-q", "\(path)/default.wav"]))
  }
}
