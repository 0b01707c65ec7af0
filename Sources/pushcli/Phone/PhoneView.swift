import TerminalUI

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
    case .center: CenterScreen(model: self).draw(in: &frame)
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
