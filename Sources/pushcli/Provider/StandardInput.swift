import Foundation
import Glibc
import PushCore

/// The kind of standard input of a command that can read it.
enum StandardInput: Equatable {
  /// A terminal, or an input without text: `/dev/null`, a closed descriptor.
  case none
  /// A pipe or a file that belongs to this command alone.
  case piped
  /// A pipe or a file that a parent process also reads, such as a `while read` loop; or a socket that may never end,
  /// such as that of `ssh HOST COMMAND`.
  case shared

  /// Programs that start another program and pass their standard input on without reading it.
  private static let wrappers: Set<String> = [
    "doas", "env", "flock", "ionice", "nice", "nohup", "setsid", "stdbuf", "strace", "sudo", "time", "timeout",
  ]

  /// The maximum number of bytes of a text.
  static let maximumSize = 1 << 20

  /// The kind of this process's standard input.
  static var current: StandardInput {
    var own = stat()
    guard unsafe fstat(STDIN_FILENO, &own) == 0 else { return .none }
    return of(mode: own.st_mode, ancestors: ancestors(reading: own))
  }

  /// Determines the kind from the mode and the parent processes.
  ///
  /// - Parameter ancestors: for each ancestor process, the nearest first, its name, and true if it has the same
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
      // The input of another user's process is unknown; such a process does not count as a reader.
      let isKnown = unsafe stat("/proc/\(process)/fd/0", &theirs) == 0
      let isSame = isKnown && theirs.st_dev == own.st_dev && theirs.st_ino == own.st_ino
      let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? ""
      return (name.trimmingCharacters(in: .newlines), isSame)
    }
  }

  /// Returns the parent of a process; nil for the first process.
  private static func parent(of process: pid_t) -> pid_t? {
    // The name, in parentheses, can contain any character; the state and the parent follow it.
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")"), let parent = text[end...].split(separator: " ").dropFirst(2).first,
      let number = pid_t(parent), number > 0
    else { return nil }
    return number
  }

  /// Reads standard input as the text of a message, without the line ends at its end.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage if it is not text or too long.
  static func text() throws -> String {
    let data = try data(upToCount: maximumSize + 1)
    guard data.count <= maximumSize else {
      throw CommandFailure(.usage, "standard input has more than \(maximumSize >> 20) MiB: a push holds 4096 bytes")
    }
    guard var text = String(data: data, encoding: .utf8) else {
      throw CommandFailure(.usage, "standard input is not text in UTF-8, as a message has to be")
    }
    while text.last?.isNewline == true { text.removeLast() }
    return text
  }

  /// Reads standard input as the message of a program.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage if it is too long or can't be read.
  static func message() throws -> [UInt8] {
    let data = try data(upToCount: maximumSize + 1)
    guard data.count <= maximumSize else {
      throw CommandFailure(.usage, "standard input has more than \(maximumSize >> 20) MiB: expected one request")
    }
    return Array(data)
  }

  /// Reads standard input to its end, or at most `maximum` bytes.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage if it can't be read.
  fileprivate static func data(upToCount maximum: Int? = nil) throws -> Data {
    do {
      let input = FileHandle.standardInput
      let data = if let maximum { try input.read(upToCount: maximum) } else { try input.readToEnd() }
      return data ?? Data()
    } catch {
      throw CommandFailure(.usage, "standard input can't be read: name a file, or pipe something in")
    }
  }
}

/// Returns the bytes of a file, or of a pipe such as `<(command)` in a shell; nil if it can't be read.
///
/// `FileManager` reads only regular files.
func contents(ofFile path: String) -> Data? {
  guard let file = FileHandle(forReadingAtPath: path) else { return nil }
  defer { try? file.close() }
  return try? file.readToEnd() ?? Data()
}

/// Returns the bytes of a file that the user names; `-` is standard input.
///
/// - Throws: ``CommandFailure`` of wrong usage if it can't be read.
func readFile(_ file: String) throws -> [UInt8] {
  if file == "-" { return Array(try StandardInput.data()) }
  guard let data = contents(ofFile: file) else {
    let isDenied = unsafe access(file, R_OK) != 0 && errno == EACCES
    let advice = isDenied ? ": name - and pass it as standard input, with <" : ""
    throw CommandFailure(.usage, "\(file) can't be read: \(UnreadableFile.reason(of: file))\(advice)")
  }
  return Array(data)
}
