import TerminalUI

extension Size {
  /// The smallest screen that the phone fits on.
  static let minimum = Size(columns: 30, rows: 10)

  /// Whether the phone fits.
  var holdsPhone: Bool { columns >= Self.minimum.columns && rows >= Self.minimum.rows }

  /// Whether there is a row to spare for the tabs.
  var hasTabs: Bool { rows >= 14 }

  /// The row after the last one of what the person looks at: below come the tabs, if there is room, and the help.
  var contentEnd: Int { rows - (hasTabs ? 2 : 1) }
}

/// The few colors of the phone.
enum Palette {
  static let red = Color(160)
  static let white = Color(231)
  static let green = Color(71)
  static let blue = Color(26)
  static let surface = Color(255)
  static let ink = Color(235)
  static let faintInk = Color(244)
  static let line = Color(250)
  /// Links and marks on the terminal's own background, dark or light.
  static let accent = Color(33)
  /// The tiles of apps; none is the badge's red.
  static let tiles = [24, 30, 65, 60, 96, 94, 61, 29].map { Color($0) }
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
    case .centre: CentreScreen(model: self).draw(in: &frame)
    case .app(let topic, let selected):
      if let app = state.app(topic) { AppScreen(model: self, app: app, selected: selected).draw(in: &frame) }
    }
    TabBar(model: self).draw(in: &frame)
    if let settings { SettingsScreen(model: self, draft: settings).draw(in: &frame) }
    drawNotice(in: &frame)
    // M3: nothing but an alert shows above a sheet, unless the sheet is the alert's own.
    if let sheet, sheet.purpose != .alert { drawSheet(sheet, in: &frame) }
    if let alert = alerts.first {
      frame.recede()
      AlertView(alert: alert, model: self).draw(in: &frame)
      if let sheet, sheet.purpose == .alert { drawSheet(sheet, in: &frame) }
    }
    if isHelpShown {
      frame.recede()
      HelpView(bindings: keyBindings).draw(in: &frame)
    }
    drawHelp(in: &frame)
    return frame
  }

  private func drawSheet(_ sheet: ActionSheet, in frame: inout Frame) {
    frame.recede()
    ActionSheetView(sheet: sheet).draw(in: &frame)
  }

  /// The notice, wrapped; empty when there is none.
  func noticeLines(columns: Int) -> [String] {
    notice.map { TextLayout.wrapped($0, columns: columns, maximumLines: 4) } ?? []
  }

  /// What the person should know, in a few lines, until a key is pressed.
  private func drawNotice(in frame: inout Frame) {
    let columns = frame.size.columns - 2
    let lines = noticeLines(columns: columns)
    guard !lines.isEmpty else { return }
    let row = frame.size.contentEnd - lines.count
    frame.fill(Rectangle(column: 0, row: row, columns: columns + 2, rows: lines.count), style: .plain)
    for (index, line) in lines.enumerated() {
      frame.writeCentered(line, column: 1, columns: columns, row: row + index, style: .bold)
    }
  }

  /// Says what is missing; nothing is lost, and no key answers what cannot be seen.
  private func drawTooSmall(in frame: inout Frame) {
    let size = frame.size
    var text = "needs \(Size.minimum.columns)×\(Size.minimum.rows), is \(size.columns)×\(size.rows)"
    if !alerts.isEmpty { text += "\n" + (alerts.count == 1 ? "1 alert waits" : "\(alerts.count) alerts wait") }
    let lines = TextLayout.wrapped(text, columns: size.columns, maximumLines: size.rows)
    for (index, line) in lines.enumerated() {
      frame.writeCentered(line, column: 0, columns: size.columns, row: (size.rows - lines.count) / 2 + index)
    }
  }

  /// The last row: what the keys do, as far as it fits, most important first; `?`, which tells them all, always.
  private func drawHelp(in frame: inout Frame) {
    let row = frame.size.rows - 1
    frame.fill(Rectangle(column: 0, row: row, columns: frame.size.columns, rows: 1), style: .plain)
    var end = frame.size.columns
    if isHelpShown {
      frame.write("any key closes this", column: 1, row: row, style: .dim)
      return
    }
    if keyBindings.contains(where: { $0.label == "?" }) {
      end -= "? keys ".count
      frame.write("keys", column: frame.write("?", column: end, row: row, style: .bold) + 1, row: row, style: .dim)
    }
    var column = 1
    for binding in keyBindings where binding.label != "?" && !(frame.size.hasTabs && binding.isTab) {
      let text = TextLayout.truncated(binding.help, columns: 16)
      let width = DisplayWidth.of(binding.label) + 1 + DisplayWidth.of(text)
      guard column + width < end else { continue }
      let next = frame.write(binding.label, column: column, row: row, style: .bold)
      column = frame.write(text, column: next + 1, row: row, style: .dim) + 3
    }
  }
}

/// The tabs at the bottom of what is modeless, with the keys that lead there.
struct TabBar {
  var model: PhoneModel

  func draw(in frame: inout Frame) {
    guard frame.size.hasTabs else { return }
    let unread = model.state.unreadCount
    let tabs = [
      ("1 Home", model.screen == .home), ("2 Centre" + (unread > 0 ? " · \(unread)" : ""), model.screen == .centre),
      ("3 Settings", model.settings != nil),
    ]
    let texts = tabs.map { $1 ? "[\($0)]" : " \($0) " }
    let gap = frame.size.columns >= 60 ? 4 : 1
    var column = (frame.size.columns - texts.reduce(gap * (texts.count - 1)) { $0 + $1.count }) / 2
    for (index, text) in texts.enumerated() {
      let style = tabs[index].1 ? Style.bold : .dim
      column = frame.write(text, column: max(column, 0), row: frame.size.rows - 2, style: style) + gap
    }
  }
}

/// All keys of a screen, over it; side by side where they don't fit below each other.
struct HelpView {
  var bindings: [KeyBinding]

  private static let gap = 3

  func draw(in frame: inout Frame) {
    let room = max(frame.size.rows - 3, 1)
    let rows = min(room, bindings.count)
    let groups = stride(from: 0, to: bindings.count, by: rows).map {
      Array(bindings[$0..<min($0 + rows, bindings.count)])
    }
    let labels = groups.map { group in group.map { DisplayWidth.of($0.label) }.max() ?? 0 }
    var helps = groups.map { group in group.map { DisplayWidth.of($0.help) }.max() ?? 0 }
    let margins = 4 + Self.gap * (groups.count - 1) + 2 * groups.count
    while labels.reduce(margins, +) + helps.reduce(0, +) > frame.size.columns, let widest = helps.max(), widest > 1 {
      helps[helps.lastIndex(of: widest) ?? 0] -= 1
    }
    let columns = min(max(labels.reduce(margins, +) + helps.reduce(0, +), 24), frame.size.columns)
    let box = Rectangle(
      column: (frame.size.columns - columns) / 2, row: max((frame.size.rows - 1 - rows - 2) / 2, 0),
      columns: columns, rows: rows + 2)
    let surface = Style(foreground: Palette.ink, background: Palette.surface)
    let strong = Style(foreground: Palette.ink, background: Palette.surface, isBold: true)
    frame.fill(box, style: surface)
    frame.drawBox(box, border: .rounded, style: Style(foreground: Palette.line, background: Palette.surface))
    frame.write(" Keys ", column: box.column + 2, row: box.row, style: surface)
    var column = box.column + 2
    for (group, (label, help)) in zip(groups, zip(labels, helps)) {
      for (index, binding) in group.enumerated() {
        let row = box.row + 1 + index
        frame.write(binding.label, column: column, row: row, style: strong)
        frame.write(
          TextLayout.truncated(binding.help, columns: help), column: column + label + 2, row: row, style: surface)
      }
      column += label + 2 + help + Self.gap
    }
  }
}
