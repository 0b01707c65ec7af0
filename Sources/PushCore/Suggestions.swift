/// Suggestions for a mistyped name.
package enum Suggestions {
  /// Returns the nearest of `names` to a word; nil if none is near. A third of the letters of a word may be wrong,
  /// and two letters of a short word.
  package static func nearest(to word: String, among names: [String]) -> String? {
    let word = Array(word.lowercased().unicodeScalars.prefix(64))
    let ranked = names.map { name in
      (name, distance(word, Array(name.lowercased().unicodeScalars.prefix(64))))
    }
    guard let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= max(2, word.count / 3), best.1 < word.count else {
      return nil
    }
    return best.0
  }

  /// Returns the number of letters to insert, delete, replace or swap with a neighbor.
  package static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var (before, last) = ([Int](), Array(0...right.count))
    for (row, letter) in left.enumerated() {
      var line = [row + 1]
      for (column, other) in right.enumerated() {
        var cost = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, line[column] + 1)
        if row > 0, column > 0, letter == right[column - 1], other == left[row - 1] {
          cost = min(cost, before[column - 1] + 1)
        }
        line.append(cost)
      }
      (before, last) = (last, line)
    }
    return last[right.count]
  }
}
