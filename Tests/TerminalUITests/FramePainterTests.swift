import Testing

@testable import TerminalUI

/// An emulator of exactly the sequences that ``FramePainter`` sends. Any other sequence fails the test.
private struct Emulator {
  var size: Size
  var cells: [Cell]
  private var column = 0
  private var row = 0
  private var style = Style.plain

  init(size: Size) {
    self.size = size
    cells = Array(repeating: .blank, count: size.columns * size.rows)
  }

  mutating func receive(_ output: String) throws {
    var rest = Substring(output)
    while let character = rest.first {
      guard character == "\u{1B}" else {
        print(character)
        rest.removeFirst()
        continue
      }
      rest.removeFirst()
      try #require(rest.popFirst() == "[")
      let end = try #require(rest.firstIndex { $0.isLetter })
      try obey(String(rest[..<end]), final: rest[end])
      rest = rest[rest.index(after: end)...]
    }
  }

  private mutating func print(_ character: Character) {
    let width = DisplayWidth.of(character)
    let start = row * size.columns + column
    for offset in 0..<width { cells[start + offset] = Cell(character: offset == 0 ? character : nil, style: style) }
    column += width
  }

  private mutating func obey(_ parameters: String, final: Character) throws {
    let numbers = parameters.split(separator: ";").compactMap { Int($0) }
    switch final {
    case "H": (row, column) = (numbers[0] - 1, numbers[1] - 1)
    case "J": cells = Array(repeating: .blank, count: cells.count)
    case "h", "l": #expect(parameters == "?2026")
    case "m":
      style = Style(isBold: numbers.contains(1), isDim: numbers.dropFirst().prefix(2).contains(2))
      if let index = numbers.firstIndex(of: 38) { style.foreground = Color(UInt8(numbers[index + 2])) }
      if let index = numbers.lastIndex(of: 48) { style.background = Color(UInt8(numbers[index + 2])) }
    default: Issue.record("unexpected \(parameters)\(final)")
    }
  }
}

/// SplitMix64, a seeded generator of random numbers.
private struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

@Suite struct FramePainterTests {
  private static let size = Size(columns: 40, rows: 12)

  /// Returns frames that each differ from the last in a few cells, with all possible content.
  private static func frames(_ count: Int, seed: UInt64) -> [Frame] {
    var generator = SeededGenerator(seed: seed)
    let texts = ["News", "12,345", "你好世界", "👩‍💻 🇨🇱 e\u{301}", "a quiet line", "\u{E0B6}12\u{E0B4}", " ", "─┼─"]
    var frame = Frame(size: size)
    return (0..<count).map { index in
      var style = Style(isBold: Bool.random(using: &generator), isDim: Bool.random(using: &generator))
      // A dim cell with its own color is not sent as dim.
      if Bool.random(using: &generator), !style.isDim {
        style.foreground = Color(.random(in: 100...255, using: &generator))
      }
      if Bool.random(using: &generator) { style.background = Color(.random(in: 100...255, using: &generator)) }
      let (column, row) = (Int.random(in: -3..<40, using: &generator), Int.random(in: 0..<12, using: &generator))
      switch index % 7 {
      case 5:
        frame.drawBox(Rectangle(column: column, row: row, columns: 9, rows: 4), style: style)
      case 6: frame.recede()
      default: frame.write(texts.randomElement(using: &generator)!, column: column, row: row, style: style)
      }
      return frame
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `what is painted is the frame, one after the other`(_ seed: UInt64) throws {
    var painter = FramePainter(usesColor: true)
    var terminal = Emulator(size: Self.size)
    for frame in Self.frames(100, seed: seed) {
      try terminal.receive(painter.paint(frame))
      #expect(terminal.cells == frame.cells)
    }
  }

  @Test func `an unchanged frame sends nothing, a changed cell little`() {
    var painter = FramePainter(usesColor: true)
    var frame = Frame(size: Size(columns: 80, rows: 24))
    _ = painter.paint(frame)
    #expect(painter.paint(frame) == "")
    frame.write("x", column: 5, row: 10)
    #expect(painter.paint(frame) == "\u{1B}[?2026h\u{1B}[11;6H\u{1B}[0mx\u{1B}[0m\u{1B}[?2026l")
    painter.invalidate()
    #expect(painter.paint(frame).contains("\u{1B}[2J"))
  }

  @Test func `without colors only bold and faint are sent`() {
    var painter = FramePainter(usesColor: false)
    var frame = Frame(size: Self.size)
    frame.write("bold", column: 0, row: 0, style: Style(foreground: Color(160), background: Color(231), isBold: true))
    frame.write("faint", column: 0, row: 1, style: .dim)
    let output = painter.paint(frame)
    #expect(!output.contains("38;5") && !output.contains("48;5"))
    #expect(output.contains("\u{1B}[0;1m") && output.contains("\u{1B}[0;2m"))
  }

  @Test func `the first eight colors are set as every terminal understands, and a faint color is just that color`() {
    #expect(Style(foreground: Color(1), background: Color(7)).sequence(usesColor: true) == "\u{1B}[0;31;47m")
    #expect(Style(foreground: Color(246), isDim: true).sequence(usesColor: true) == "\u{1B}[0;38;5;246m")
    #expect(Style(foreground: Color(246), isDim: true).sequence(usesColor: false) == "\u{1B}[0;2m")
  }

  @Test func `a click means what the topmost part means, and nothing behind what floats`() {
    var frame = Frame(size: Size(columns: 9, rows: 3))
    frame.mark(Rectangle(column: 0, row: 0, columns: 9, rows: 3), 1)
    frame.mark(Rectangle(column: 2, row: 1, columns: 2, rows: 1), 2)
    #expect(frame.meaning(column: 3, row: 1) as? Int == 2)
    #expect(frame.meaning(column: 4, row: 1) as? Int == 1)
    #expect(frame.meaning(column: 9, row: 1) == nil)
    frame.recede()
    #expect(frame.meaning(column: 3, row: 1) == nil)
  }

  @Test func `writing over half of a wide cluster leaves no other half`() {
    var frame = Frame(size: Size(columns: 6, rows: 1))
    frame.write("a😀你b", column: 0, row: 0)
    frame.write("x", column: 2, row: 0)
    #expect(frame.text == "a x你b")
    frame.write("界", column: 3, row: 0)
    #expect(frame.text == "a x界b")
    frame.write("😀", column: 5, row: 0)
    frame.write("😀z", column: -1, row: 0)
    #expect(frame.text == " zx界")
  }

  @Test func `no text puts a control into a cell`() {
    var frame = Frame(size: Size(columns: 20, rows: 1))
    frame.write("\u{1B}[2J\u{9B}\u{7}\n\u{301}ok", column: 0, row: 0)
    #expect(frame.text == " \u{301}ok")
  }
}
