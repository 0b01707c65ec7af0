/// The pairs of elements of two recordings, in their order, with the smallest total difference.
enum RecordingAlignment {
  /// The positions of two elements; nil for an element that only one of the recordings has.
  struct Pair: Equatable {
    var before: Int?
    var after: Int?
  }

  /// The difference of elements that have nothing in common.
  static let maximumDifference = 1000
  /// The cost of an element without a counterpart: two of them cost as much as a pair that has nothing in common.
  private static let gap = maximumDifference / 2
  /// The maximum number of compared pairs. Beyond it, elements between the equal beginning and end are paired by position.
  private static let maximumComparisons = 250_000

  /// - Parameters:
  ///   - before: the number of elements of the first recording.
  ///   - after: the number of elements of the second recording.
  ///   - difference: returns the difference of an element of the first and one of the second: 0 if they are equal.
  static func pairs(_ before: Int, _ after: Int, difference: (Int, Int) -> Int) -> [Pair] {
    var start = 0
    while start < min(before, after), difference(start, start) == 0 { start += 1 }
    var end = 0
    while end < min(before, after) - start, difference(before - end - 1, after - end - 1) == 0 { end += 1 }
    let (lefts, rights) = (before - start - end, after - start - end)
    var pairs = (0..<start).map { Pair(before: $0, after: $0) }
    if lefts * rights <= maximumComparisons {
      pairs += aligned(lefts, rights) { difference(start + $0, start + $1) }
        .map { Pair(before: $0.before.map { start + $0 }, after: $0.after.map { start + $0 }) }
    } else {
      pairs += (0..<max(lefts, rights)).map { index in
        Pair(before: index < lefts ? start + index : nil, after: index < rights ? start + index : nil)
      }
    }
    return pairs + (0..<end).map { Pair(before: before - end + $0, after: after - end + $0) }
  }

  /// Finds the pairs with the smallest sum of costs, from the end to the beginning (Needleman and Wunsch).
  private static func aligned(_ lefts: Int, _ rights: Int, difference: (Int, Int) -> Int) -> [Pair] {
    let width = rights + 1
    // The smallest cost of the elements from two positions on.
    var costs = [Int](repeating: 0, count: (lefts + 1) * width)
    var paired = costs
    for left in stride(from: lefts, through: 0, by: -1) {
      for right in stride(from: rights, through: 0, by: -1) where left < lefts || right < rights {
        let place = left * width + right
        var cost = Int.max
        if left < lefts { cost = gap + costs[place + width] }
        if right < rights { cost = min(cost, gap + costs[place + 1]) }
        if left < lefts, right < rights {
          paired[place] = difference(left, right) + costs[place + width + 1]
          cost = min(cost, paired[place])
        }
        costs[place] = cost
      }
    }
    var pairs: [Pair] = []
    var (left, right) = (0, 0)
    while left < lefts || right < rights {
      let place = left * width + right
      if left < lefts, right < rights, costs[place] == paired[place] {
        pairs.append(Pair(before: left, after: right))
        (left, right) = (left + 1, right + 1)
      } else if left < lefts, costs[place] == gap + costs[place + width] {
        pairs.append(Pair(before: left))
        left += 1
      } else {
        pairs.append(Pair(after: right))
        right += 1
      }
    }
    return pairs
  }
}
