/// Numbers of what waits, the lowest first, as they mostly come and leave. What has left otherwise may be among them still.
struct WaitingNumbers {
  private var numbers: [UInt64] = []
  /// What comes before was taken.
  private var start = 0

  var count: Int { numbers.count - start }

  /// Adds one, unless it is among them.
  mutating func add(_ number: UInt64) {
    guard let last = numbers.last, last >= number else { return numbers.append(number) }
    let place = place(number)
    if place == numbers.count || numbers[place] != number { numbers.insert(number, at: place) }
  }

  /// Takes out those up to a number.
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

  /// Keeps some of them.
  mutating func keep(where isKept: (UInt64) -> Bool) {
    numbers = numbers[start...].filter(isKept)
    start = 0
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
