import PushPolicy

/// Rows of a delivery log in the form in which the gateways of a cluster exchange them.
///
/// It begins with a byte that is 1 if these are all rows, and the number to continue from (8 bytes). Each row follows
/// as its number (8), its size (4) and a ``LogBatch`` of this one row. Numbers are little-endian.
package struct LogPassage: Sendable {
  /// The rows, the oldest first.
  package var records: [DeliveryLog.Record]
  /// The number after which the rows begin that are not among these; only for a page.
  package var next: Int64
  /// True if there are no other matching rows.
  package var isComplete: Bool

  package init(records: [DeliveryLog.Record], next: Int64 = 0, isComplete: Bool) {
    (self.records, self.next, self.isComplete) = (records, next, isComplete)
  }

  /// The rows to leave out if they are too large for one message.
  package enum Cut: Sendable { case oldest, newest }

  private static let headSize = 9
  private static let rowHeadSize = 12

  /// Encodes the rows.
  ///
  /// - Parameter maximumSize: the maximum size in bytes; rows beyond it are left out, and the result is marked as
  ///   incomplete.
  package func encoded(_ cut: Cut, maximumSize: Int) -> [UInt8] {
    var rows: [[UInt8]] = []
    var size = LogPassage.headSize
    var last: Int64?
    func take(_ record: DeliveryLog.Record) -> Bool {
      let row = LogPassage.encoded(record)
      guard size + row.count <= maximumSize else { return false }
      size += row.count
      rows.append(row)
      last = record.number
      return true
    }
    let isWhole: Bool
    switch cut {
    case .newest: isWhole = records.allSatisfy(take)
    case .oldest:
      isWhole = records.reversed().allSatisfy(take)
      rows.reverse()
    }
    var bytes: [UInt8] = [isComplete && isWhole ? 1 : 0]
    bytes.reserveCapacity(size)
    LogPassage.append(isWhole ? next : last ?? next, to: &bytes)
    for row in rows { bytes += row }
    return bytes
  }

  /// Decodes rows of another gateway; nil if the bytes are invalid. Rows of events of a later version are left out.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count >= LogPassage.headSize, bytes[0] <= 1 else { return nil }
    (isComplete, next, records) = (bytes[0] == 1, LogPassage.integer(bytes[1..<9]), [])
    var rest = bytes[LogPassage.headSize...]
    while !rest.isEmpty {
      guard rest.count >= LogPassage.rowHeadSize else { return nil }
      let number = LogPassage.integer(rest.prefix(8))
      let size = Int(truncatingIfNeeded: LogPassage.integer(rest.dropFirst(8).prefix(4)))
      let row = rest.dropFirst(LogPassage.rowHeadSize)
      guard size <= row.count, (0..<Int64.max).contains(number) else { return nil }
      ReadingSteps.add(LogPassage.rowHeadSize + size)
      if let read = LogBatch.rows(Array(row.prefix(size))).first {
        records.append(DeliveryLog.Record(number: number, row: read.row, text: read.text?.text))
      }
      rest = row.dropFirst(size)
    }
  }

  private static func encoded(_ record: DeliveryLog.Record) -> [UInt8] {
    var batch = LogBatch()
    batch.append(record.row, keeping: record.text)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(rowHeadSize + batch.bytes.count)
    append(record.number, to: &bytes)
    append(UInt32(batch.bytes.count), to: &bytes)
    return bytes + batch.bytes
  }

  private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  private static func integer(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reversed().reduce(0) { $0 << 8 | Int64($1) }
  }
}
