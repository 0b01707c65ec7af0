/// Consecutive batches of the delivery log that share one filter. A search reads the filter first, and reads about
/// one of a hundred groups in vain.
///
/// A filter for each batch would be as large as the batch itself at times with few events.
struct LogGroup {
  private var filter = LogFilter()
  /// The numbers of the batches; nil if there are none.
  private(set) var numbers: ClosedRange<Int64>?
  /// The latest time of a row, in milliseconds since 1970.
  private(set) var last = Int64.min
  private var size = 0

  /// The size of the rows in bytes from which a group is complete: a search with a match in the group reads this
  /// much.
  private static let completeSize = 256 << 10

  var isComplete: Bool { size >= LogGroup.completeSize }
  var filterBytes: [UInt8] { filter.bytes }

  /// Adds a batch that has been written. A batch that does not follow the others begins a new group, because it is in
  /// another file.
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
