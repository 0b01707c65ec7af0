import Foundation
import Glibc

/// Writes all output of a command: data to standard output, messages and the log to standard error. It writes only
/// ``SanitizedText`` and, unchanged, the output of a command that `run` runs.
enum Output {
  /// Prints a line of data at once.
  ///
  /// If the reader of the pipe has closed it, the command ends without a message, as any program in a pipe does.
  static func data(_ line: String) { write(SanitizedText(line: line), to: STDOUT_FILENO) }

  /// Prints a line of data; if it can't be written, the command continues.
  static func announce(_ line: String) { _ = error(writing: SanitizedText(line: line).bytes, to: STDOUT_FILENO) }

  /// Writes all of `text`, in one write if the system accepts it; ends the command if it can't be written.
  static func write(_ text: SanitizedText, to descriptor: Int32) {
    guard let error = Output.error(writing: text.bytes, to: descriptor) else { return }
    if error != EPIPE { words("pushcli: standard output can't be written: \(unsafe String(cString: strerror(error)))") }
    exit(error == EPIPE ? Exit.done.rawValue : Exit.failed.rawValue)
  }

  /// Forwards the output of a foreground command unchanged; returns the C error if the system does not accept it.
  static func pass(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int32? { error(writing: bytes, to: descriptor) }

  /// Writes all of `bytes`; returns the C error if the system does not accept them.
  private static func error(writing bytes: some ContiguousBytes, to descriptor: Int32) -> Int32? {
    unsafe bytes.withUnsafeBytes { buffer in
      var written = 0
      while written < buffer.count {
        let count = unsafe Glibc.write(descriptor, buffer.baseAddress! + written, buffer.count - written)
        if count >= 0 {
          written += count
        } else if errno == EAGAIN {
          var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          unsafe poll(&state, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return nil
    }
  }

  /// Prints a value as one line of JSON.
  static func json(_ value: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // The values of commands consist of strings, numbers and lists, which can always be encoded.
    guard let bytes = try? encoder.encode(value) else { return }
    write(SanitizedText(json: bytes + [UInt8(ascii: "\n")], isForTerminal: true), to: STDOUT_FILENO)
  }

  /// Writes a line of JSON for a program that reads each line.
  ///
  /// - Returns: false if the line can't be written, since the program is gone.
  static func send(json line: String) -> Bool {
    error(writing: SanitizedText(json: Array((line + "\n").utf8), isForTerminal: true).bytes, to: STDOUT_FILENO) == nil
  }

  /// Prints one line of JSON for each value.
  static func json(lines values: [some Encodable]) {
    for value in values { json(value) }
  }

  /// Prints the rows of a JSON array that has one row per line, each as a separate line.
  static func json(rows array: [UInt8]) {
    var lines: [UInt8] = []
    lines.reserveCapacity(array.count)
    for byte in array.dropFirst().dropLast() {
      // JSON strings contain no line end, and a comma precedes each line end.
      if byte == UInt8(ascii: "\n") { lines.removeLast() }
      lines.append(byte)
    }
    if lines.isEmpty { return }
    write(SanitizedText(json: lines + [UInt8(ascii: "\n")], isForTerminal: true), to: STDOUT_FILENO)
  }

  /// Prints JSON as it is; on a terminal, dangerous characters are escaped.
  static func json(bytes: [UInt8]) {
    write(SanitizedText(json: bytes, isForTerminal: isatty(STDOUT_FILENO) == 1), to: STDOUT_FILENO)
  }

  /// Prints a message to the user, in one line.
  static func words(_ text: String) { write(SanitizedText(line: text)) }

  /// Prints a message to the user, in several lines.
  static func words(lines text: String) { write(SanitizedText(lines: text)) }

  /// Prints a question; the user answers on the same line.
  static func ask(_ text: String) { write(SanitizedText(question: text)) }

  /// Shows progress in place of the previous progress; with an empty text, removes it.
  static func progress(_ text: String) { write(SanitizedText(progress: text)) }

  /// Prints help that the user requested.
  static func help(_ text: String) { write(SanitizedText(lines: text), to: STDOUT_FILENO) }

  /// Writes an event of the gateway's log to standard error, in one line.
  static func log(_ event: String) { write(SanitizedText(event: event)) }

  /// Writes an event of the gateway's log to standard error, as a line of JSON.
  static func log(_ json: [UInt8]) { write(SanitizedText(json: json, isForTerminal: true)) }

  /// Writes to standard error; the command continues if that fails.
  fileprivate static func write(_ text: SanitizedText) { _ = error(writing: text.bytes, to: STDERR_FILENO) }

  /// Prints lines of data in one write.
  static func data(lines text: String) {
    if !text.isEmpty { write(SanitizedText(lines: text), to: STDOUT_FILENO) }
  }

  /// Prints a table with aligned columns.
  static func table(_ header: [String], _ rows: [[String]]) {
    var table = TableWriter(header)
    data(lines: table.lines(of: rows))
  }
}

extension Duration {
  /// The duration in seconds for the user, such as `0.4 s`.
  var inSeconds: String { String(format: "%.1f s", locale: Locale(identifier: "en_US_POSIX"), self / .seconds(1)) }
}

/// Returns a count with its noun, such as `1 file` and `2 files`.
func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
  "\(count) \(count == 1 ? one : many ?? one + "s")"
}
