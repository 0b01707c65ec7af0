import TerminalUI

/// Lines and symbols as shapes: fonts draw them differently, and shapes stay connected.
enum PictureSigns {
  /// The halves of a cell's center lines that a box-drawing character consists of.
  private struct Arms: OptionSet {
    let rawValue: Int
    static let left = Arms(rawValue: 1)
    static let right = Arms(rawValue: 2)
    static let up = Arms(rawValue: 4)
    static let down = Arms(rawValue: 8)
  }

  private static let light: [Character: Arms] = [
    "─": [.left, .right], "│": [.up, .down], "├": [.up, .down, .right], "┤": [.up, .down, .left],
    "┬": [.left, .right, .down], "┴": [.left, .right, .up], "┌": [.right, .down],
  ]
  private static let heavy: [Character: Arms] = [
    "━": [.left, .right], "┃": [.up, .down], "┏": [.right, .down], "┓": [.left, .down], "┗": [.right, .up],
    "┛": [.left, .up],
  ]
  /// The paths of rounded corners.
  private static let round: [Character: String] = [
    "╭": "M9 8.5a4.5 4.5 0 0 0-4.5 4.5V18", "╮": "M0 8.5a4.5 4.5 0 0 1 4.5 4.5V18",
    "╰": "M9 8.5a4.5 4.5 0 0 1-4.5-4.5V0", "╯": "M0 8.5a4.5 4.5 0 0 0 4.5-4.5V0",
  ]

  /// Filled symbols and stroked ones, in a cell of 9 by 18 units.
  static let filled: [Character: String] = [
    "▸": "M2 4.5v9l5.5-4.5z", "◂": "M7 4.5v9L1.5 9z", "●": "M1 9a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "▏": "M0 1h1.5v16H0z", "\u{E0B6}": "M9 0a9 9 0 0 0 0 18z", "\u{E0B4}": "M0 0a9 9 0 0 1 0 18z",
  ]
  static let drawn: [Character: String] = [
    "○": "M1.5 9a3 3 0 1 0 6 0a3 3 0 1 0-6 0z", "✓": "M1 9.5l2.5 3.5L8 5", "←": "M8.5 9h-8M3.5 6l-3 3l3 3",
    "→": "M.5 9h8M5.5 6l3 3l-3 3", "↑": "M4.5 14V4.5M1.5 7.5l3-3l3 3", "↓": "M4.5 4.5V14M1.5 11l3 3l3-3",
    "↵": "M8 5v5H1.5M4 7.5L1.5 10L4 12.5", "⇥": "M.5 9H7M4.5 6.5L7 9l-2.5 2.5M8.5 5.5v7", "␣": "M1 11.5v3h7v-3",
  ]

  static func isLine(_ character: Character) -> Bool {
    light[character] != nil || heavy[character] != nil || round[character] != nil
  }

  /// Returns the lines of one color in a frame as two paths, one for thin and one for heavy lines. Each line is one
  /// stroke from end to end.
  static func lines(_ size: Size, _ sign: (_ column: Int, _ row: Int) -> Character?) -> [(path: String, width: Int)] {
    var thin = strokes(size, 0.5, { sign($0, $1).flatMap { light[$0] } ?? [] })
    for row in 0..<size.rows {
      for column in 0..<size.columns {
        guard let path = sign(column, row).flatMap({ round[$0] }) else { continue }
        thin += PicturePath.moved(path, column: column, row: row)
      }
    }
    let thick = strokes(size, 0, { sign($0, $1).flatMap { heavy[$0] } ?? [] })
    return [(thin, 1), (thick, 2)].filter { !$0.0.isEmpty }
  }

  /// - Parameter shift: The distance of a line above and to the left of the center of its cell: half a unit keeps a
  ///   thin line sharp.
  private static func strokes(_ size: Size, _ shift: Double, _ arms: (Int, Int) -> Arms) -> String {
    var path = ""
    let middle = (x: 5 - shift, y: 9 - shift)
    for row in 0..<size.rows {
      for (from, to) in runs(0..<size.columns, { arms($0, row) }, .left, .right, middle.x, Double(PictureCell.width)) {
        path += "M\(PicturePath.text(from)) \(PicturePath.text(Double(row * PictureCell.height) + middle.y))"
        path += "H\(PicturePath.text(to))"
      }
    }
    for column in 0..<size.columns {
      for (from, to) in runs(0..<size.rows, { arms(column, $0) }, .up, .down, middle.y, Double(PictureCell.height)) {
        path += "M\(PicturePath.text(Double(column * PictureCell.width) + middle.x)) \(PicturePath.text(from))"
        path += "V\(PicturePath.text(to))"
      }
    }
    return path
  }

  /// Returns the start and end of each line along a row or a column.
  private static func runs(
    _ places: Range<Int>, _ arms: (Int) -> Arms, _ before: Arms, _ after: Arms, _ middle: Double, _ length: Double
  ) -> [(Double, Double)] {
    var result: [(Double, Double)] = []
    func add(_ from: Double, _ to: Double) {
      if let last = result.last, last.1 == from { result[result.count - 1].1 = to } else { result.append((from, to)) }
    }
    for place in places {
      let (found, start) = (arms(place), Double(place) * length)
      if found.contains(before) { add(start, start + middle) }
      if found.contains(after) { add(start + middle, start + length) }
    }
    return result
  }
}

/// The required part of SVG paths.
enum PicturePath {
  /// Returns the shortest notation of a number.
  static func text(_ number: Double) -> String {
    number == number.rounded() ? String(Int(number)) : String(number)
  }

  /// Returns a path that begins with `M`, moved to another cell: only absolute coordinates change.
  static func moved(_ path: String, column: Int, row: Int) -> String {
    let (x, y) = (Double(column * PictureCell.width), Double(row * PictureCell.height))
    return words(of: path).map { command, numbers in
      let moved = numbers.enumerated().map { place, number in
        switch command {
        case "M", "L": number + (place % 2 == 0 ? x : y)
        case "H": number + x
        case "V": number + y
        default: number
        }
      }
      return String(command) + moved.map(text).joined(separator: " ")
    }.joined()
  }

  /// Returns the commands of a path with their numbers.
  private static func words(of path: String) -> [(Character, [Double])] {
    var words: [(Character, String)] = []
    for character in path {
      if character.isLetter {
        words.append((character, ""))
      } else {
        if character == "-" { words[words.count - 1].1 += " " }
        words[words.count - 1].1.append(character)
      }
    }
    return words.map { ($0.0, $0.1.split(separator: " ").compactMap { Double($0) }) }
  }
}
