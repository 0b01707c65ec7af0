import Foundation
import Glibc

/// Data goes to standard output, words to standard error.
enum Output {
  /// Prints a line of data, at once.
  ///
  /// A reader who has gone ends the command quietly, as it would end any program in a pipe.
  static func data(_ line: some StringProtocol) { data(Array(line.utf8)) }

  /// Prints a line of data, at once.
  static func data(_ line: [UInt8]) {
    var rest = (line + [UInt8(ascii: "\n")])[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        exit(errno == EPIPE ? Exit.done.rawValue : Exit.failed.rawValue)
      }
      rest = rest.dropFirst(count)
    }
  }

  /// Prints a value as one line of JSON.
  static func json(_ value: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // The values of commands are strings, numbers and lists of them: they can always be encoded.
    if let bytes = try? encoder.encode(value) { data(Array(bytes)) }
  }

  /// Prints one line of JSON for each value.
  static func json(lines values: [some Encodable]) {
    for value in values { json(value) }
  }

  /// Says something to the person.
  static func words(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }

  /// Prints a table with aligned columns.
  static func table(_ header: [String], _ rows: [[String]]) {
    let widths = header.indices.map { column in
      ([header] + rows).map { DisplayWidth.of($0[column]) }.max() ?? 0
    }
    for row in [header] + rows {
      let cells = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - DisplayWidth.of(cell))
      }
      var line = cells.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      data(line)
    }
  }
}
