import GatewayProtocol
import PushPolicy
import TerminalUI

/// The modal alert in the middle of the screen (A1, A2): the app's name, the message, one or two buttons.
///
/// It takes the width and the air it likes, then gives up the air, then widens, and cuts texts only when that is still
/// not enough.
struct AlertView {
  private static let preferredColumns = 46
  private static let maximumColumns = 76
  /// Borders, the name, the line above the buttons, the buttons.
  private static let fixedRows = 5

  var alert: QueuedAlert
  var model: PhoneModel

  private static let surface = Style(foreground: Palette.ink, background: Palette.surface)
  private static let strong = Style(foreground: Palette.ink, background: Palette.surface, isBold: true)
  private static let faint = Style(foreground: Palette.faintInk, background: Palette.surface)
  private static let line = Style(foreground: Palette.line, background: Palette.surface)

  func draw(in frame: inout Frame) {
    let content = content(in: frame.size)
    let size = Size(columns: content.columns, rows: content.lines.count + Self.fixedRows)
    let box = Rectangle(
      column: (frame.size.columns - size.columns) / 2,
      row: max((frame.size.rows - 1 - size.rows) / 2, 0),
      columns: size.columns,
      rows: size.rows
    )
    frame.fill(box, style: Self.surface)
    frame.drawBox(box, border: .rounded, style: Self.line)
    drawCaption(box, in: &frame)
    for (index, line) in content.lines.enumerated() {
      let (row, column) = (box.row + 2 + index, box.column + 2)
      if line.isCentered {
        frame.writeCentered(line.text, column: column, columns: box.columns - 4, row: row, style: line.style)
      } else {
        frame.write(line.text, column: column, row: row, style: line.style)
      }
    }
    drawButtons(box, in: &frame)
  }

  private static func style(_ choice: AlertChoice, isFocused: Bool) -> Style {
    let color = choice.isDestructive ? Palette.red : Palette.blue
    return isFocused
      ? Style(foreground: Palette.white, background: color, isBold: true)
      : Style(foreground: color, background: Palette.surface)
  }

  private struct Line {
    var text: String
    var style: Style
    var isCentered = true
  }

  /// The time and how many alerts wait, on the border; the app's name beneath it.
  private func drawCaption(_ box: Rectangle, in frame: inout Frame) {
    let moment = ClockText(timeZone: model.timeZone).moment(alert.push.received, now: model.now)
    frame.write(" \(moment) ", column: box.column + 2, row: box.row, style: Self.faint)
    if model.alerts.count > 1 {
      let more = " \(model.alerts.count - 1) more "
      frame.write(more, column: box.column + box.columns - 2 - more.count, row: box.row, style: Self.faint)
    }
    frame.writeCentered(
      (alert.push.app.icon.isEmpty ? "" : alert.push.app.icon + " ") + alert.push.app.name,
      column: box.column + 2,
      columns: box.columns - 4,
      row: box.row + 1,
      style: Self.faint
    )
  }

  private func drawButtons(_ box: Rectangle, in frame: inout Frame) {
    let buttons = alert.choices
    let row = box.row + box.rows - 2
    let inner = Rectangle(column: box.column + 1, row: row, columns: box.columns - 2, rows: 1)
    var rule = inner
    rule.row -= 1
    frame.fill(rule, with: "─", style: Self.line)
    frame.write("├", column: box.column, row: row - 1, style: Self.line)
    frame.write("┤", column: box.column + box.columns - 1, row: row - 1, style: Self.line)
    let left = (inner.columns - 1) / 2
    if buttons.count == 2 {
      for (character, offset) in [("┬", -1), ("│", 0), ("┴", 1)] {
        frame.write(character, column: inner.column + left, row: row + offset, style: Self.line)
      }
    }
    // No button has the focus until keys count.
    let focus = model.isAlertReady ? model.alertFocus : nil
    for (index, choice) in buttons.enumerated() {
      let column = inner.column + (index == 0 ? 0 : left + 1)
      let columns = buttons.count == 1 ? inner.columns : index == 0 ? left : inner.columns - left - 1
      let style = Self.style(choice, isFocused: index == focus)
      frame.fill(Rectangle(column: column, row: row, columns: columns, rows: 1), style: style)
      let text = TextLayout.truncated(choice.title, columns: columns - 4)
      let label = index == focus ? "▸ \(text) ◂" : text
      frame.writeCentered(label, column: column, columns: columns, row: row, style: style)
    }
  }

  /// The lines between the name and the buttons, and the columns of the whole alert.
  private func content(in size: Size) -> (lines: [Line], columns: Int) {
    let rows = size.rows - 1 - Self.fixedRows
    let preferred = min(Self.preferredColumns, size.columns - 2)
    for columns in [preferred, min(Self.maximumColumns, size.columns - 2), size.columns] {
      let texts = texts(columns: columns - 4)
      let air = texts.filter { !$0.isEmpty }.count + 1
      let needed = texts.reduce(0) { $0 + $1.count }
      if needed + air <= rows { return (lines(texts, isAiry: true), columns) }
      if needed <= rows { return (lines(texts, isAiry: false), columns) }
    }
    return (lines(cut(columns: size.columns - 4, rows: rows), isAiry: false), size.columns)
  }

  /// Title, subtitle and body in lines; what is empty has none.
  private func texts(columns: Int) -> [[String]] {
    [alert.alert.title, alert.alert.subtitle, alert.alert.body].map { TextLayout.wrapped($0, columns: columns) }
  }

  /// As much of each text as fits: the body gives way first, then the subtitle; each keeps a line.
  private func cut(columns: Int, rows: Int) -> [[String]] {
    let texts = [alert.alert.title, alert.alert.subtitle, alert.alert.body]
    let needed = texts.map { TextLayout.wrapped($0, columns: columns).count }
    var room = rows
    var result: [[String]] = []
    for (index, text) in texts.enumerated() {
      let reserved = needed[(index + 1)...].filter { $0 > 0 }.count
      let lines = TextLayout.wrapped(text, columns: columns, maximumLines: max(room - reserved, 0))
      room -= lines.count
      result.append(lines)
    }
    return result
  }

  /// The three texts one below the other. With air there is a blank line above the title, the body and the buttons.
  private func lines(_ texts: [[String]], isAiry: Bool) -> [Line] {
    let blank = isAiry ? [Line(text: "", style: Self.surface)] : []
    let title = texts[0].map { Line(text: $0, style: Self.strong) }
    let head = title + texts[1].map { Line(text: $0, style: Self.surface) }
    // A short body is centered like the title; a long one is easier to read from the left.
    let body = texts[2].map { Line(text: $0, style: Self.surface, isCentered: texts[2].count <= 3) }
    return blank + head + (head.isEmpty || body.isEmpty ? [] : blank) + body + blank
  }
}
