import PushPolicy
import Testing

@testable import pushcli

/// A terminal that knows exactly what ``FramePainter`` sends, and stops the test at anything else.
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
      if let index = numbers.firstIndex(of: 38) { style.foreground = Colour(UInt8(numbers[index + 2])) }
      if let index = numbers.lastIndex(of: 48) { style.background = Colour(UInt8(numbers[index + 2])) }
    default: Issue.record("unexpected \(parameters)\(final)")
    }
  }
}

@Suite struct FramePainterTests {
  @Test func `what is painted is the frame, one after the other`() throws {
    var phone = Sample.phone()
    var painter = FramePainter(usesColour: true)
    var terminal = Emulator(size: phone.size)
    let messages: [PhoneMessage] = [
      .push(Sample.push(1, badge: 3, alert: Sample.earthquake)), .push(Sample.push(2, Sample.album, badge: 12_345)),
      .key(.left), .key(.character("v")), .key(.escape), .key(.right), .key(.character("s")),
      .push(Sample.push(3, Sample.mail, alert: .init(title: "你好世界", body: "👩‍💻 🇨🇱 e\u{301}"))), .retract(id: "push-3"),
      .connection(.disconnected(lastConnected: Sample.now, retryAt: Sample.now)),
    ]
    for message in messages {
      phone.happens(message)
      let frame = phone.view(size: phone.size)
      try terminal.receive(painter.paint(frame))
      #expect(terminal.cells == frame.cells)
    }
  }

  @Test func `an unchanged frame sends nothing, a changed cell little`() {
    var painter = FramePainter(usesColour: true)
    var frame = Sample.phone().view(size: Size(columns: 80, rows: 24))
    _ = painter.paint(frame)
    #expect(painter.paint(frame) == "")
    frame.write("x", column: 5, row: 10)
    #expect(painter.paint(frame) == "\u{1B}[?2026h\u{1B}[11;6H\u{1B}[0mx\u{1B}[0m\u{1B}[?2026l")
    painter.invalidate()
    #expect(painter.paint(frame).contains("\u{1B}[2J"))
  }

  @Test func `without colours only bold and faint are sent`() {
    var painter = FramePainter(usesColour: false)
    let phone = Sample.phone([.push(Sample.push(1, badge: 3, alert: Sample.earthquake))])
    let output = painter.paint(phone.view(size: phone.size))
    #expect(!output.contains("38;5") && !output.contains("48;5"))
    #expect(output.contains("\u{1B}[0;1m") && output.contains("\u{1B}[0;2m"))
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
    #expect(frame.text == "[2J \u{301}ok")
  }
}
