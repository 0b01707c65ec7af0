/// Increasing numbers, of which mostly the first leave.
struct NumberLine: Sendable {
  private var numbers: [UInt64] = []
  /// What comes before has left.
  private var start = 0

  var count: Int { numbers.count - start }
  var first: UInt64? { start < numbers.count ? numbers[start] : nil }
  var last: UInt64? { start < numbers.count ? numbers.last : nil }

  /// Those from a number on.
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

  /// Where the first is that is not below a number.
  private func place(_ number: UInt64) -> Int {
    var (low, high) = (start, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
