import Foundation
import Glibc
import PushPolicy
import Synchronization

/// Plays sounds by name through the first available player of this machine, or rings the terminal's bell.
///
/// It never blocks: a player is started and awaited on other threads. At most one sound plays at a time, and at most
/// one begins within a second. Of the sounds in between, only the most urgent one is played when the second has
/// passed, and only if it is more urgent than the first. The players mix with other audio (S6).
final class SoundPlayer: Sendable {
  /// The outcome of a sound.
  enum Outcome: Sendable, Equatable {
    case started([String])
    case bell
    /// Another sound began less than a second ago, or still plays.
    case skipped
    /// The sound plays when the second has passed.
    case postponed
  }

  /// The players in order of preference, their options for a volume from 0 to 1, and the file types that each one
  /// reads.
  private static let players: [(name: String, options: @Sendable (Double) -> [String], suffixes: [String])] = [
    ("pw-play", { ["--volume=\($0)"] }, ["", ".wav", ".oga", ".aiff"]),
    ("paplay", { ["--volume=\(Int($0 * 65_536))"] }, ["", ".wav", ".oga", ".aiff"]),
    // It has no volume option: a built-in sound is written at a lower level, a custom file plays at its own level.
    ("aplay", { _ in ["-q"] }, ["", ".wav"]),
  ]

  private struct State {
    var isPlaying = false
    var began: ContinuousClock.Instant?
    var urgency = InterruptionLevel.passive
    var postponed: (urgency: InterruptionLevel, task: Task<Void, Never>)?
  }

  private let folder: String
  private let cache: String
  private let searchPath: [String]
  private let ring: @Sendable () -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - folder: The folder of the user's custom sounds.
  ///   - cache: The folder in which the built-in sounds are written for the players, one file for each volume.
  ///   - searchPath: The folders of the players.
  ///   - ring: Rings the bell.
  init(
    folder: String,
    cache: String = SoundPlayer.standardCache,
    searchPath: [String] = SoundPlayer.standardSearchPath,
    ring: @escaping @Sendable () -> Void
  ) {
    self.folder = folder
    self.cache = cache
    self.searchPath = searchPath
    self.ring = ring
  }

  /// True while a sound plays.
  var isPlaying: Bool { state.withLock { $0.isPlaying } }

  /// The default cache folder, `~/.cache/pushgateway/sounds`.
  static var standardCache: String { folder("XDG_CACHE_HOME", ".cache", ProcessInfo.processInfo.environment) }

  /// Returns this program's folder in the folder that `variable` names, or in `place` of the user's home folder. The
  /// home folder is `$HOME`, as in a shell; only without it, the entry of the password file is used.
  static func folder(_ variable: String, _ place: String, _ environment: [String: String]) -> String {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    return (value(variable) ?? (value("HOME") ?? NSHomeDirectory()) + "/" + place) + "/pushgateway/sounds"
  }

  /// The folders of `PATH`.
  static var standardSearchPath: [String] {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
  }

  /// Plays the sound called `name`, or `default` if the device has no sound of this name (S1).
  ///
  /// - Parameter volume: The volume from 0 to 100; at 0 nothing plays.
  @discardableResult
  func play(
    _ name: String, volume: Int = 100, urgency: InterruptionLevel = .active, now: ContinuousClock.Instant = .now
  )
    -> Outcome
  {
    guard volume > 0 else { return .skipped }
    return state.withLock { state in
      let elapsed = state.began.map { now - $0 } ?? .seconds(1)
      if state.isPlaying || elapsed < .seconds(1) {
        guard urgency > state.urgency, state.postponed.map({ urgency > $0.urgency }) ?? true else { return .skipped }
        state.postponed?.task.cancel()
        let task = Task { [weak self] in
          try? await Task.sleep(for: max(.seconds(1) - elapsed, .milliseconds(100)))
          guard !Task.isCancelled else { return }
          self?.state.withLock { $0.postponed = nil }
          self?.play(name, volume: volume, urgency: urgency)
        }
        state.postponed = (urgency, task)
        return .postponed
      }
      (state.began, state.urgency) = (now, urgency)
      if let command = command(for: name, volume: volume), start(command) {
        state.isPlaying = true
        return .started(command)
      }
      ring()
      return .bell
    }
  }

  /// Returns the player and its arguments for the sound called `name`: the user's custom sound unless it is too long
  /// (S2), a built-in one, or the default.
  func command(for name: String, volume: Int = 100) -> [String]? {
    guard let player = player else { return nil }
    let names = [name, "default"].filter(Self.isBareFileName)
    for name in names {
      for path in player.suffixes.map({ "\(folder)/\(name)\($0)" }) where Self.isShortSound(path) {
        return [player.program] + player.options(Double(volume) / 100) + [path]
      }
      if let path = builtIn(name, volume: volume) { return [player.program] + player.options(1) + [path] }
    }
    return nil
  }

  private var player: (program: String, options: @Sendable (Double) -> [String], suffixes: [String])? {
    for player in Self.players {
      if let program = searchPath.map({ $0 + "/" + player.name }).first(where: Self.isExecutable) {
        return (program, player.options, player.suffixes)
      }
    }
    return nil
  }

  /// Returns the path of a built-in sound, and writes the file if it does not exist.
  private func builtIn(_ name: String, volume: Int) -> String? {
    let name = name.hasSuffix(".wav") || name.hasSuffix(".caf") ? String(name.dropLast(4)) : name
    guard SoundFile.builtIns[name] != nil else { return nil }
    let path = "\(cache)/\(name)-\(volume).wav"
    if Self.isFile(path) { return path }
    try? FileManager.default.createDirectory(atPath: cache, withIntermediateDirectories: true)
    guard let file = SoundFile.builtIn(name, volume: volume) else { return nil }
    return (try? Data(file).write(to: URL(filePath: path), options: .atomic)).map { path }
  }

  /// Returns true if `name` cannot lead outside of the folder. The gateway has already checked it.
  static func isBareFileName(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix(".") && !name.contains("..") && name.utf8.count < 200
      && name.unicodeScalars.allSatisfy { $0 != "/" && $0 != "\\" && $0.properties.generalCategory != .control }
  }

  private static func isExecutable(_ path: String) -> Bool {
    unsafe access(path, X_OK) == 0
  }

  private static func isShortSound(_ path: String) -> Bool {
    isFile(path) && SoundFile.length(path).map { $0 <= SoundFile.maximumLength } ?? false
  }

  private static func isFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Starts a program without access to this terminal; returns false if it can't be started.
  private func start(_ command: [String]) -> Bool {
    let process = Process.quiet(command)
    process.terminationHandler = { [weak self] _ in self?.state.withLock { $0.isPlaying = false } }
    return (try? process.run()) != nil
  }
}
