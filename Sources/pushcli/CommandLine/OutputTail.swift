import TerminalUI

/// The last lines of a command's output.
///
/// For any amount of output, it keeps at most ``maximumLineCount`` lines and the first ``maximumLineSize`` bytes of
/// each.
struct OutputTail {
  static let maximumLineCount = 20
  static let maximumLineSize = 1024
  /// The maximum length of a returned line, in characters; a longer line ends with "…".
  static let maximumLineLength = 160

  /// A line without its end.
  private struct Line {
    var bytes: [UInt8] = []
    /// True if the last byte was a carriage return: the next byte begins the line again, as on a terminal.
    var isReturned = false
    /// True if the line has only white space and control characters so far.
    var isBlank = true

    mutating func append(_ byte: UInt8) {
      if isReturned {
        bytes.removeAll(keepingCapacity: true)
        (isReturned, isBlank) = (false, true)
      }
      guard bytes.count < OutputTail.maximumLineSize else { return }
      bytes.append(byte)
      if byte > UInt8(ascii: " ") { isBlank = false }
    }
  }

  /// The finished lines, oldest first.
  private var ended: [[UInt8]] = []
  /// The unfinished line of each stream.
  private var open: [Int32: Line] = [:]

  mutating func append(_ bytes: ArraySlice<UInt8>, of stream: Int32) {
    var line = open[stream] ?? Line()
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\n"):
        if !line.isBlank { end(line) }
        line = Line()
      case UInt8(ascii: "\r"): line.isReturned = true
      default: line.append(byte)
      }
    }
    open[stream] = line
  }

  private mutating func end(_ line: Line) {
    ended.append(line.bytes)
    if ended.count > 2 * OutputTail.maximumLineCount { ended.removeFirst(OutputTail.maximumLineCount) }
  }

  /// The last lines with visible text, safe to show. Unfinished lines come last.
  var lines: [String] {
    let all = ended + open.sorted { $0.key < $1.key }.map(\.value.bytes)
    return all.compactMap(OutputTail.shown).suffix(OutputTail.maximumLineCount)
  }

  /// Returns a line without escape sequences and control characters; nil if nothing is left.
  private static func shown(_ bytes: [UInt8]) -> String? {
    let line = Sanitizer.line(String(decoding: withoutEscapes(bytes), as: UTF8.self))
    guard let last = line.lastIndex(where: { !$0.isWhitespace }) else { return nil }
    let text = line[...last]
    return text.count > maximumLineLength ? text.prefix(maximumLineLength - 1) + "…" : String(text)
  }

  /// Returns `bytes` without the sequences that begin with ESC (ECMA-48 §5): colors, movements of the cursor, titles.
  private static func withoutEscapes(_ bytes: [UInt8]) -> [UInt8] {
    var rest = bytes[...]
    guard var escape = rest.firstIndex(of: 0x1B) else { return bytes }
    var kept: [UInt8] = []
    while true {
      kept += rest[..<escape]
      rest = rest[(escape + 1)...]
      dropEscape(&rest)
      guard let next = rest.firstIndex(of: 0x1B) else { return kept + rest }
      escape = next
    }
  }

  /// Drops the rest of an escape sequence from the bytes after its ESC.
  private static func dropEscape(_ rest: inout ArraySlice<UInt8>) {
    guard let kind = rest.popFirst() else { return }
    switch kind {
    case UInt8(ascii: "["):
      rest = rest.drop { (0x20...0x3F).contains($0) }.dropFirst()
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
      // A control string, which BEL or ESC and a backslash ends.
      rest = rest.drop { $0 != 0x07 && $0 != 0x1B }
      if rest.popFirst() == 0x1B { _ = rest.popFirst() }
    case 0x20...0x2F:
      rest = rest.drop { (0x20...0x2F).contains($0) }.dropFirst()
    default: break
    }
  }
}
