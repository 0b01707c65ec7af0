/// A sequence of increasing numbers, for removals mostly at its beginning.
struct NumberLine: Sendable {
  private var numbers: [UInt64] = []
  /// The index of the first number that has not been removed.
  private var start = 0

  var count: Int { numbers.count - start }
  var first: UInt64? { start < numbers.count ? numbers[start] : nil }
  var last: UInt64? { start < numbers.count ? numbers.last : nil }

  /// Returns the numbers that are at least `number`.
  func from(_ number: UInt64) -> ArraySlice<UInt64> { numbers[place(number)...] }

  mutating func add(_ number: UInt64) { numbers.append(number) }

  mutating func remove(_ number: UInt64) {
    let place = place(number)
    guard place < numbers.count, numbers[place] == number else { return }
    guard place == start else {
      _ = numbers.remove(at: place)
      return
    }
    start += 1
    if start > 64, start * 2 > numbers.count {
      numbers.removeFirst(start)
      start = 0
    }
  }

  /// Returns the index of the first number that is at least `number`.
  private func place(_ number: UInt64) -> Int {
    var (low, high) = (start, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
