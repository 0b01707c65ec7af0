import Foundation
import Glibc
import TerminalUI

/// Data goes to standard output, words to standard error.
enum Output {
  /// Prints a line of data, at once.
  ///
  /// A reader who has gone ends the command quietly, as it would end any program in a pipe.
  static func data(_ line: some StringProtocol) { data(Array(line.utf8)) }

  /// Prints a line of data, at once.
  static func data(_ line: [UInt8]) { write(line + [UInt8(ascii: "\n")], to: STDOUT_FILENO) }

  /// Writes all of `bytes`, in one piece if the system takes it so.
  static func write(_ bytes: [UInt8], to descriptor: Int32) {
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
          if errno != EPIPE {
            words("pushcli: standard output can't be written: \(unsafe String(cString: strerror(errno)))")
          }
          exit(errno == EPIPE ? Exit.done.rawValue : Exit.failed.rawValue)
        }
      }
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

extension Duration {
  /// Such as `0.4 sec`, for the person.
  var inSeconds: String { formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1))) }
}
