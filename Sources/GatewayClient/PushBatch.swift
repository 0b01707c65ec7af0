/// Pushes in the order and form in which the gateway sent them, one line each with its end.
package struct PushBatch: Sendable {
  package var bytes: [UInt8] = []
  package var lines: [(seq: UInt64, end: Int)] = []

  package init() {}

  /// The highest number; 0 when none of the pushes is stored.
  package var lastSeq: UInt64 { lines.reduce(0) { max($0, $1.seq) } }

  package mutating func append(_ line: ArraySlice<UInt8>, seq: UInt64) {
    bytes += line
    bytes.append(UInt8(ascii: "\n"))
    lines.append((seq, bytes.count))
  }

  package mutating func append(_ batch: PushBatch) {
    let start = bytes.count
    bytes += batch.bytes
    lines += batch.lines.map { ($0.seq, $0.end + start) }
  }

  /// Returns the first `count` lines.
  package func prefix(_ count: Int) -> PushBatch {
    guard count < lines.count else { return self }
    var batch = PushBatch()
    batch.bytes = Array(bytes.prefix(count == 0 ? 0 : lines[count - 1].end))
    batch.lines = Array(lines.prefix(count))
    return batch
  }

  /// The lines without their ends.
  package var contents: [ArraySlice<UInt8>] {
    var contents: [ArraySlice<UInt8>] = []
    forEachLine { contents.append($1) }
    return contents
  }

  /// Calls `body` with each line, without its end.
  package func forEachLine(_ body: (_ seq: UInt64, _ line: ArraySlice<UInt8>) throws -> Void) rethrows {
    var start = 0
    for line in lines {
      try body(line.seq, bytes[start..<line.end - 1])
      start = line.end
    }
  }
}
