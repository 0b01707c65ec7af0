import Foundation
import Glibc
import TerminalUI

/// All that a command writes: data to standard output, words and the log to standard error, nothing but ``SanitizedText`` and, unchanged,
/// the output of a command that `run` runs.
enum Output {
  /// Prints a line of data, at once.
  ///
  /// A reader who has gone ends the command quietly, as it would end any program in a pipe.
  static func data(_ line: String) { write(SanitizedText(line: line), to: STDOUT_FILENO) }

  /// Prints a line of data for whoever reads it: a command that runs on must not end because nobody can.
  static func announce(_ line: String) { _ = error(writing: SanitizedText(line: line).bytes, to: STDOUT_FILENO) }

  /// Writes all of `text`, in one piece if the system takes it so; ends the command when it can't be written.
  static func write(_ text: SanitizedText, to descriptor: Int32) {
    guard let error = Output.error(writing: text.bytes, to: descriptor) else { return }
    if error != EPIPE { words("pushcli: standard output can't be written: \(unsafe String(cString: strerror(error)))") }
    exit(error == EPIPE ? Exit.done.rawValue : Exit.failed.rawValue)
  }

  /// Passes on what a command in front of this process has written, which is its own and goes out as it is; returns the C error
  /// when the system does not take it.
  static func pass(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int32? { error(writing: bytes, to: descriptor) }

  /// Writes all of `bytes`; the C error when the system does not take them.
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
    // The values of commands are strings, numbers and lists of them: they can always be encoded.
    guard let bytes = try? encoder.encode(value) else { return }
    write(SanitizedText(json: bytes + [UInt8(ascii: "\n")], isForTerminal: true), to: STDOUT_FILENO)
  }

  /// Prints one line of JSON for each value.
  static func json(lines values: [some Encodable]) {
    for value in values { json(value) }
  }

  /// Prints the rows of a JSON array that has one a line, each as a line of its own.
  static func json(rows array: [UInt8]) {
    var lines: [UInt8] = []
    lines.reserveCapacity(array.count)
    for byte in array.dropFirst().dropLast() {
      // In a string there is no line end, and in front of each is the comma.
      if byte == UInt8(ascii: "\n") { lines.removeLast() }
      lines.append(byte)
    }
    if lines.isEmpty { return }
    write(SanitizedText(json: lines + [UInt8(ascii: "\n")], isForTerminal: true), to: STDOUT_FILENO)
  }

  /// Prints JSON that is there already, byte by byte where no terminal is.
  static func json(bytes: [UInt8]) {
    write(SanitizedText(json: bytes, isForTerminal: isatty(STDOUT_FILENO) == 1), to: STDOUT_FILENO)
  }

  /// Says something to the person, in one line.
  static func words(_ text: String) { write(SanitizedText(line: text)) }

  /// Says something to the person, in lines.
  static func words(lines text: String) { write(SanitizedText(lines: text)) }

  /// Asks the person something, who answers behind it.
  static func ask(_ text: String) { write(SanitizedText(question: text)) }

  /// Shows how far something is, in the place of what was shown before; empty: nothing.
  static func progress(_ text: String) { write(SanitizedText(progress: text)) }

  /// Prints help, which a person asked for.
  static func help(_ text: String) { write(SanitizedText(lines: text), to: STDOUT_FILENO) }

  /// Writes an event of the gateway's log to standard error, in one line.
  static func log(_ event: String) { write(SanitizedText(event: event)) }

  /// Writes an event of the gateway's log to standard error, as a line of JSON.
  static func log(_ json: [UInt8]) { write(SanitizedText(json: json, isForTerminal: true)) }

  /// Where nobody reads what is said, the command goes on.
  fileprivate static func write(_ text: SanitizedText) { _ = error(writing: text.bytes, to: STDERR_FILENO) }

  /// Prints lines of data, all at once.
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
  /// Such as `0.4 s`, for the person.
  var inSeconds: String { String(format: "%.1f s", locale: Locale(identifier: "en_US_POSIX"), self / .seconds(1)) }
}

/// Such as `1 file` and `2 files`.
func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
  "\(count) \(count == 1 ? one : many ?? one + "s")"
}
