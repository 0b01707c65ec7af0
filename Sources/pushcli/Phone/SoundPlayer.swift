import Foundation
import Glibc
import Synchronization

/// Plays sounds by name through the first player of this machine, else the terminal's bell.
///
/// It never blocks: a player is started and looked after at the next sound. At most one plays, and at most one begins
/// within a second; what comes in between is not played. The players mix with other audio (S6).
final class SoundPlayer: Sendable {
  /// What became of a sound.
  enum Outcome: Sendable, Equatable {
    case started([String])
    case bell
    /// Another one began less than a second ago, or still plays.
    case skipped
  }

  /// The players in order of preference, and which kinds of file each reads.
  private static let players: [(name: String, options: [String], suffixes: [String])] = [
    ("pw-play", [], ["", ".wav", ".oga", ".aiff"]),
    ("paplay", [], ["", ".wav", ".oga", ".aiff"]),
    ("aplay", ["-q"], ["", ".wav"]),
  ]

  private struct State {
    var child: pid_t?
    var began: ContinuousClock.Instant?
  }

  private let folder: String
  private let searchPath: [String]
  private let ring: @Sendable () -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - folder: Where the sounds are.
  ///   - searchPath: Where the players are.
  ///   - ring: Rings the bell.
  init(
    folder: String = SoundPlayer.standardFolder,
    searchPath: [String] = SoundPlayer.standardSearchPath,
    ring: @escaping @Sendable () -> Void
  ) {
    self.folder = folder
    self.searchPath = searchPath
    self.ring = ring
  }

  deinit {
    state.withLock { Self.reap(&$0) }
  }

  /// `~/.local/share/pushgateway/sounds`.
  static var standardFolder: String {
    NSHomeDirectory() + "/.local/share/pushgateway/sounds"
  }

  /// The folders of `PATH`.
  static var standardSearchPath: [String] {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
  }

  /// Begins to play the sound called `name`, or `default` when the device lacks it (S1).
  @discardableResult
  func play(_ name: String, now: ContinuousClock.Instant = .now) -> Outcome {
    state.withLock { state in
      Self.reap(&state)
      if state.child != nil { return .skipped }
      if let began = state.began, now - began < .seconds(1) { return .skipped }
      state.began = now
      if let command = command(for: name) ?? command(for: "default"), let child = Self.spawn(command) {
        state.child = child
        return .started(command)
      }
      ring()
      return .bell
    }
  }

  /// The player and its arguments for the sound called `name`; `nil` without a file or a player for it.
  func command(for name: String) -> [String]? {
    guard Self.isBareFileName(name) else { return nil }
    for player in Self.players {
      guard let program = searchPath.map({ $0 + "/" + player.name }).first(where: Self.isExecutable) else { continue }
      for suffix in player.suffixes where Self.isFile("\(folder)/\(name)\(suffix)") {
        return [program] + player.options + ["\(folder)/\(name)\(suffix)"]
      }
    }
    return nil
  }

  /// Whether `name` can lead nowhere but into the folder; the gateway has checked it before.
  static func isBareFileName(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix(".") && !name.contains("..") && name.utf8.count < 200
      && name.unicodeScalars.allSatisfy { $0 != "/" && $0 != "\\" && $0.properties.generalCategory != .control }
  }

  private static func isExecutable(_ path: String) -> Bool {
    unsafe access(path, X_OK) == 0
  }

  private static func isFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Forgets a child that has ended.
  private static func reap(_ state: inout State) {
    guard let child = state.child else { return }
    if waitpid(child, nil, WNOHANG) != 0 { state.child = nil }
  }

  /// Starts a program that reads and writes nothing of ours.
  private static func spawn(_ command: [String]) -> pid_t? {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var arguments = unsafe command.map { (text: String) -> UnsafeMutablePointer<CChar>? in unsafe strdup(text) } + [nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    var child: pid_t = 0
    guard unsafe posix_spawn(&child, command[0], &actions, nil, &arguments, environ) == 0 else { return nil }
    return child
  }
}
