/// The numbers of pending pushes in increasing order, which is mostly the order of arrival and removal. Some numbers of
/// pushes that have left may remain.
struct WaitingNumbers {
  private var numbers: [UInt64] = []
  /// The index of the first number that was not taken.
  private var start = 0

  var count: Int { numbers.count - start }

  /// Adds a number, unless it is present.
  mutating func add(_ number: UInt64) {
    guard let last = numbers.last, last >= number else { return numbers.append(number) }
    let place = place(number)
    if place == numbers.count || numbers[place] != number { numbers.insert(number, at: place) }
  }

  /// Removes and returns the numbers up to a limit.
  mutating func take(through number: UInt64) -> ArraySlice<UInt64> {
    let end = number == .max ? numbers.count : place(number + 1)
    let taken = numbers[start..<end]
    start = end
    if start > 64, start * 2 > numbers.count {
      numbers.removeFirst(start)
      start = 0
    }
    return taken
  }

  /// Removes the numbers for which `isKept` returns false.
  mutating func keep(where isKept: (UInt64) -> Bool) {
    numbers = numbers[start...].filter(isKept)
    start = 0
  }

  /// Returns the index of the first number that is not below a limit.
  private func place(_ number: UInt64) -> Int {
    var (low, high) = (start, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
