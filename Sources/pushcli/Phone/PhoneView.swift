extension Size {
  /// The smallest screen that the phone fits on.
  static let minimum = Size(columns: 30, rows: 10)

  /// Whether the phone fits.
  var holdsPhone: Bool { columns >= Self.minimum.columns && rows >= Self.minimum.rows }
}

/// The few colours of the phone.
enum Palette {
  static let red = Colour(160)
  static let white = Colour(231)
  static let green = Colour(71)
  static let blue = Colour(26)
  static let surface = Colour(255)
  static let ink = Colour(235)
  static let faintInk = Colour(244)
  static let line = Colour(250)
  /// The tiles of apps; none is the badge's red.
  static let tiles = [24, 30, 65, 60, 96, 94, 61, 29].map { Colour($0) }
}

extension PhoneModel {
  /// The whole screen at `size`.
  func view(size: Size) -> Frame {
    var frame = Frame(size: size)
    guard size.holdsPhone else {
      drawTooSmall(in: &frame)
      return frame
    }
    StatusBar(model: self).draw(in: &frame)
    switch screen {
    case .home: HomeScreen(model: self).draw(in: &frame)
    case .app(let topic, let selectedID):
      if let app = app(topic) { AppScreen(model: self, app: app, selectedID: selectedID).draw(in: &frame) }
    }
    if let alert = alerts.first {
      frame.recede()
      AlertView(alert: alert, model: self).draw(in: &frame)
    }
    drawHelp(in: &frame)
    return frame
  }

  /// Says what is missing; nothing is lost, and no key answers what cannot be seen.
  private func drawTooSmall(in frame: inout Frame) {
    let size = frame.size
    var text = "needs \(Size.minimum.columns)×\(Size.minimum.rows), is \(size.columns)×\(size.rows)"
    if !alerts.isEmpty { text += "\n" + (alerts.count == 1 ? "1 alert waits" : "\(alerts.count) alerts wait") }
    let lines = TextLayout.wrapped(text, columns: size.columns, maximumLines: size.rows)
    for (index, line) in lines.enumerated() {
      frame.writeCentred(line, column: 0, columns: size.columns, row: (size.rows - lines.count) / 2 + index)
    }
  }

  /// The last row: what the keys do, as far as it fits, most important first.
  private func drawHelp(in frame: inout Frame) {
    let row = frame.size.rows - 1
    frame.fill(Rectangle(column: 0, row: row, columns: frame.size.columns, rows: 1), style: .plain)
    var column = 1
    for binding in keyBindings {
      let text = TextLayout.truncated(binding.help, columns: 16)
      let width = DisplayWidth.of(binding.label) + 1 + DisplayWidth.of(text)
      guard column + width < frame.size.columns else { continue }
      let next = frame.write(binding.label, column: column, row: row, style: .bold)
      column = frame.write(text, column: next + 1, row: row, style: .dim) + 3
    }
  }
}
