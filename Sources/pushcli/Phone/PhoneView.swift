import GatewayProtocol
import TerminalUI

extension PhoneModel {
  /// Draws the whole screen at `size`.
  func view(size: Size) -> Frame {
    var frame = Frame(size: size)
    if size.holdsPhone {
      draw(in: &frame)
    } else if let group, size.holdsAlert {
      AlertView(group, self, size: size).draw(in: &frame)
      if let sheet, sheet.purpose.isOfAlert { drawSheet(sheet, in: &frame) }
    } else {
      drawTooSmall(in: &frame)
    }
    finish(&frame)
    return frame
  }

  private func draw(in frame: inout Frame) {
    let size = frame.size
    StatusBar(model: self).draw(in: &frame)
    switch screen {
    case .home: drawHome(in: &frame)
    case .center: CenterScreen(model: self).draw(in: &frame)
    case .app: appScreen?.draw(in: &frame)
    }
    drawLines(bar, end: size.contentEnd, in: &frame)
    drawTabs(in: &frame)
    if let settings { SettingsScreen(model: self, draft: settings).draw(in: &frame) }
    if let draft { draw(draft, in: &frame) }
    drawLines(noticeLines(columns: size.columns - 2), end: contentEnd, in: &frame)
    // M3: only an alert is drawn above a sheet, unless the sheet belongs to the alert.
    if let sheet, !sheet.purpose.isOfAlert { drawSheet(sheet, in: &frame) }
    if let group {
      frame.recede(palette.receded)
      AlertView(group, self, size: size).draw(in: &frame)
      if let sheet, sheet.purpose.isOfAlert { drawSheet(sheet, in: &frame) }
    }
    let bindings = keyBindings
    if isHelpShown {
      frame.recede(palette.receded)
      HelpView(bindings, self, size: size).draw(in: &frame)
    }
    drawHelp(bindings, in: &frame)
  }

  /// Replaces faint text by a readable color, and non-ASCII characters for a terminal that cannot show them.
  private func finish(_ frame: inout Frame) {
    if let dim = palette.dim {
      frame.mapCells { if $0.style.isDim, $0.style.foreground == nil { $0.style.foreground = dim } }
    }
    if form.drawing == .ascii { frame.spellInASCII(keepsLetters: form.encodesUTF8) }
  }

  /// Draws the tabs at the bottom of screens that are not modal, with their keys.
  private func drawTabs(in frame: inout Frame) {
    guard frame.size.hasTabs else { return }
    let unread = state.unreadCount
    let tabs = [
      ("1 Home", screen == .home, PhoneCommand.Tab.home),
      ("2 Center" + (unread > 0 ? " · \(unread)" : ""), screen == .center, .center),
      ("3 Settings", settings != nil, .settings),
    ]
    let texts = tabs.map { $0.1 ? "[\($0.0)]" : " \($0.0) " }
    let gap = frame.size.columns >= 60 ? 4 : 1
    var column = (frame.size.columns - texts.reduce(gap * (texts.count - 1)) { $0 + $1.count }) / 2
    for (index, text) in texts.enumerated() {
      let style = tabs[index].1 ? Style.bold : .dim
      let (start, row) = (max(column, 0), frame.size.rows - 2)
      let end = frame.write(text, column: start, row: row, style: style)
      frame.mark(Rectangle(column: start, row: row, columns: end - start, rows: 1), PhoneCommand.show(tabs[index].2))
      column = end + gap
    }
  }

  /// Draws lines over the whole width, above the row `end`.
  private func drawLines(_ lines: [String], end: Int, in frame: inout Frame) {
    let columns = frame.size.columns - 2
    frame.fill(Rectangle(column: 0, row: end - lines.count, columns: columns + 2, rows: lines.count), style: .plain)
    for (index, line) in lines.enumerated() {
      frame.writeCentered(line, column: 1, columns: columns, row: end - lines.count + index, style: .bold)
    }
  }

  /// Draws the required size. No data is lost, and no key answers an invisible alert.
  private func drawTooSmall(in frame: inout Frame) {
    let size = frame.size
    var text = "needs \(Size.minimum.columns)×\(Size.minimum.rows), is \(size.columns)×\(size.rows)"
    if !alerts.isEmpty { text += "\n" + (alerts.count == 1 ? "1 alert waits" : "\(alerts.count) alerts wait") }
    let lines = TextLayout.wrapped(text, columns: size.columns, maximumLines: size.rows)
    for (index, line) in lines.enumerated() {
      frame.writeCentered(line, column: 0, columns: size.columns, row: (size.rows - lines.count) / 2 + index)
    }
  }

  /// Draws the last row: the keys that fit, most important first, and always `?`, which shows all keys.
  private func drawHelp(_ bindings: [KeyBinding], in frame: inout Frame) {
    let row = frame.size.rows - 1
    frame.fill(Rectangle(column: 0, row: row, columns: frame.size.columns, rows: 1), style: .plain)
    var end = frame.size.columns
    if isHelpShown {
      let words = helpView.viewport.isWhole ? "any key closes this" : "↑↓ scroll, others close"
      frame.write(form.label(words), column: 1, row: row, style: .dim)
      return
    }
    func write(_ binding: KeyBinding, _ help: String, at column: Int) -> Int {
      let label = frame.write(form.label(binding.label), column: column, row: row, style: .bold)
      let next = frame.write(help, column: label + 1, row: row, style: .dim)
      if binding.commands.count > 0, let command = binding.click {
        frame.mark(Rectangle(column: column, row: row, columns: next - column, rows: 1), command)
      }
      return next
    }
    if let keys = bindings.first(where: { $0.label == "?" }) {
      end -= "? keys ".count
      _ = write(keys, keys.help, at: end)
    }
    let isBarShown = !bar.isEmpty
    let shown = bindings.filter { binding in
      binding.label != "?" && !(frame.size.hasTabs && binding.isTab) && !(binding.isWhole && isBarShown)
    }
    func width(_ binding: KeyBinding, _ help: String) -> Int {
      DisplayWidth.of(form.label(binding.label)) + 1 + DisplayWidth.of(help)
    }
    // No text is truncated if all of them fit.
    let hasRoom = shown.reduce(0) { $0 + width($1, $1.help) + 3 } < end + 2
    var column = 1
    for binding in shown {
      let text = binding.isWhole || hasRoom ? binding.help : TextLayout.truncated(binding.help, columns: 16)
      guard column + width(binding, text) < end else { continue }
      column = write(binding, text, at: column) + 3
    }
  }
}
