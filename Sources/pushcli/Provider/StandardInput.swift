import Foundation
import Glibc

/// What standard input is to a command that may read it.
enum StandardInput: Equatable {
  /// A terminal, or nothing that has text: `/dev/null`, a closed one.
  case none
  /// A pipe or a file, which was given to this command itself.
  case piped
  /// A pipe or a file that whoever started this reads as well, such as a `while read` loop; or a socket, which may never
  /// end, such as that of `ssh HOST COMMAND`.
  case shared

  /// Programs that start another one in their own place as far as standard input goes.
  private static let wrappers: Set<String> = [
    "doas", "env", "flock", "ionice", "nice", "nohup", "setsid", "stdbuf", "strace", "sudo", "time", "timeout",
  ]

  /// The bytes of a text that are read at most.
  static let maximumSize = 1 << 20

  /// What it is now.
  static var current: StandardInput {
    var own = stat()
    guard unsafe fstat(STDIN_FILENO, &own) == 0 else { return .none }
    return of(mode: own.st_mode, ancestors: ancestors(reading: own))
  }

  /// What it is, by its mode and by who began this.
  ///
  /// - Parameter ancestors: the name of each process above this one, the nearest first, and whether it has the same
  ///   standard input.
  static func of(mode: mode_t, ancestors: some Sequence<(name: String, isSame: Bool)>) -> StandardInput {
    switch mode & S_IFMT {
    case S_IFIFO, S_IFREG: break
    case S_IFSOCK: return .shared
    default: return .none
    }
    let nearest = ancestors.first { !($0.isSame && wrappers.contains($0.name)) }
    return nearest?.isSame == true ? .shared : .piped
  }

  private static func ancestors(reading own: stat) -> some Sequence<(name: String, isSame: Bool)> {
    sequence(first: getppid()) { parent(of: $0) }.lazy.map { process in
      var theirs = stat()
      // Of another person's process it can't be known, which then is not what reads along.
      let isKnown = unsafe stat("/proc/\(process)/fd/0", &theirs) == 0
      let isSame = isKnown && theirs.st_dev == own.st_dev && theirs.st_ino == own.st_ino
      let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? ""
      return (name.trimmingCharacters(in: .newlines), isSame)
    }
  }

  /// The process that started another; nil for the first one.
  private static func parent(of process: pid_t) -> pid_t? {
    // The name, in parentheses, may hold anything; the state and the parent come behind it.
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")"), let parent = text[end...].split(separator: " ").dropFirst(2).first,
      let number = pid_t(parent), number > 0
    else { return nil }
    return number
  }

  /// Reads all of it as the text of a message, without the line ends behind it.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage when it is no text, or too much.
  static func text() throws -> String {
    let data = try PayloadFile.standardInput(upToCount: maximumSize + 1)
    guard data.count <= maximumSize else {
      throw CommandFailure(.usage, "standard input has more than \(maximumSize >> 20) MiB: a push holds 4096 bytes")
    }
    guard var text = String(data: data, encoding: .utf8) else {
      throw CommandFailure(.usage, "standard input is no text in UTF-8: a message has to be")
    }
    while text.last?.isNewline == true { text.removeLast() }
    return text
  }
}
