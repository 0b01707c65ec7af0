import DequeModule

/// The numbers of pending pushes in increasing order, which is mostly the order of arrival and removal. Some numbers of
/// pushes that have left may remain.
struct WaitingNumbers {
  private var numbers: Deque<UInt64> = []

  var count: Int { numbers.count }

  /// Adds a number, unless it is present.
  mutating func add(_ number: UInt64) {
    guard let last = numbers.last, last >= number else { return numbers.append(number) }
    let index = index(of: number)
    if numbers[index] != number { numbers.insert(number, at: index) }
  }

  /// Removes and returns the numbers up to a limit.
  mutating func take(through number: UInt64) -> [UInt64] {
    let taken = Array(numbers.prefix(number == .max ? numbers.count : index(of: number + 1)))
    numbers.removeFirst(taken.count)
    return taken
  }

  /// Removes the numbers for which `isKept` returns false.
  mutating func keep(where isKept: (UInt64) -> Bool) { numbers.removeAll { !isKept($0) } }

  /// Returns the index of the first number that is not below a limit.
  private func index(of limit: UInt64) -> Int {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < limit { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
