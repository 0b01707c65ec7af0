import GatewayProtocol
import TerminalUI

extension PhoneModel {
  /// Draws the modal view for writing a push (M1): Cancel left, Send right (D1), and a row for each field.
  func draw(_ draft: PushDraft, in frame: inout Frame) {
    let part = drawModalHeader(
      "New Push", done: "Send", cancel: .cancelDraft, complete: .send, isFocused: draft.field == .send, in: &frame)
    var row = part.row
    for field in PushDraft.Field.allCases where field != .send && row < part.row + part.rows {
      let room = field == .body ? part.row + part.rows - row : 1
      let area = Rectangle(column: part.column, row: row, columns: part.columns, rows: room)
      row += draw(field, of: draft, area, in: &frame)
    }
  }

  /// Draws a field and returns the number of rows that it takes.
  private func draw(
    _ field: PushDraft.Field, of draft: PushDraft, _ part: Rectangle, in frame: inout Frame
  ) -> Int {
    let isFocused = draft.field == field
    let indent = 11
    frame.mark(part, PhoneCommand.chooseField(field.rawValue))
    if isFocused { frame.write("▸", column: part.column, row: part.row, style: .bold) }
    frame.write(field.name, column: part.column + 2, row: part.row, style: isFocused ? .bold : .dim)
    let columns = max(part.columns - indent, 1)
    if field == .app {
      let name = state.app(draft.topic).map { title(of: $0.app) } ?? draft.topic
      frame.write(
        "‹ \(TextLayout.truncated(name, columns: columns - 4)) ›", column: part.column + indent, row: part.row,
        style: isFocused ? .bold : .plain)
      return 1
    }
    let text = (draft.text(of: field) ?? "") + (isFocused ? "▏" : "")
    guard field == .body else {
      // The cursor at the end of the text stays visible in a text of any length.
      let shown = isFocused ? TextLayout.tail(text, columns: columns) : TextLayout.truncated(text, columns: columns)
      frame.write(shown, column: part.column + indent, row: part.row)
      return 1
    }
    let lines = TextLayout.wrapped(text, columns: columns)
    let viewport = Viewport(count: lines.count, rows: part.rows, offset: isFocused ? .max / 2 : 0)
    for (place, index) in viewport.range.enumerated() {
      frame.write(lines[index], column: part.column + indent, row: part.row + place)
    }
    return max(viewport.range.count, 1)
  }

  /// Draws the header of a modal view, with Cancel left and the completing button right, and clears everything except
  /// the first and the last row. Returns the area below the header.
  func drawModalHeader(
    _ title: String, done: String, cancel: PhoneCommand, complete: PhoneCommand, isFocused: Bool = false,
    in frame: inout Frame
  ) -> Rectangle {
    let size = frame.size
    frame.unmark()
    frame.fill(Rectangle(column: 0, row: 1, columns: size.columns, rows: size.rows - 2), style: .plain)
    let columns = min(size.columns - 2, 64)
    let left = (size.columns - columns) / 2
    let accent = palette.accent
    frame.write("Cancel", column: left, row: 1, style: Style(foreground: accent))
    frame.mark(Rectangle(column: left, row: 1, columns: 6, rows: 1), cancel)
    frame.writeCentered(title, column: left, columns: columns, row: 1, style: .bold)
    let label = isFocused ? "▸ \(done)" : done
    let column = left + columns - label.count
    frame.write(label, column: column, row: 1, style: Style(foreground: accent, isBold: true))
    frame.mark(Rectangle(column: column, row: 1, columns: label.count, rows: 1), complete)
    frame.fill(Rectangle(column: left, row: 2, columns: columns, rows: 1), with: "─", style: .dim)
    return Rectangle(column: left, row: 3, columns: columns, rows: max(size.rows - 4, 1))
  }
}
