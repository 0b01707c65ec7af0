/// Batches of the delivery log that follow one another and have one filter: whoever looks for something reads the filter
/// first, and of a hundred groups one without it.
///
/// A filter for each batch would be as large as the batch itself where little happens.
struct LogGroup {
  private var filter = LogFilter()
  /// The numbers of the batches; nil while there is none.
  private(set) var numbers: ClosedRange<Int64>?
  /// The latest time of a row, in milliseconds since 1970.
  private(set) var last = Int64.min
  private var size = 0

  /// Bytes of rows from which on a group is complete: a reader who finds one reads so much.
  private static let completeSize = 256 << 10

  var isComplete: Bool { size >= LogGroup.completeSize }
  var filterBytes: [UInt8] { filter.bytes }

  /// Adds a batch that has been written. One that does not follow the others begins a new group: their file is another's.
  mutating func add(_ number: Int64, last: Int64, rows: UnsafeRawBufferPointer) {
    if let numbers, numbers.upperBound == number - 1 {
      self.numbers = numbers.lowerBound...number
    } else {
      self = LogGroup()
      numbers = number...number
    }
    self.last = max(self.last, last)
    size += rows.count
    unsafe LogLayout.forEachKey(of: rows) { filter.insert($0) }
  }
}
