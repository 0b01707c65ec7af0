import TerminalUI

/// The settings, a modal view over the whole screen (M1): Cancel left, Done right (D1), grouped rows with switches
/// (L8).
struct SettingsScreen {
  var model: PhoneModel
  var draft: SettingsDraft

  private enum Line {
    case blank
    case header(String)
    case row(SettingsRow, index: Int)
  }

  func draw(in frame: inout Frame) {
    let size = frame.size
    let part = model.drawModalHeader("Settings", done: "Done", cancel: .cancel, complete: .done, in: &frame)
    let lines = lines
    // The selected row must not be covered by a notice.
    let notice = model.noticeLines(columns: size.columns - 2).count
    let explanation = notice == 0 ? explanationRows : 0
    let rows = max(notice == 0 ? part.rows - explanation : size.contentEnd - notice - part.row, 1)
    let selected = lines.firstIndex { if case .row(_, draft.selected) = $0 { true } else { false } } ?? 0
    let viewport = Viewport(count: lines.count, rows: rows, offset: selected - rows / 2)
    for (place, index) in viewport.range.enumerated() {
      draw(lines[index], column: part.column, row: part.row + place, columns: part.columns, in: &frame)
    }
    let column = part.column + part.columns
    if viewport.first > 0 { frame.write("↑", column: column, row: part.row, style: .dim) }
    if viewport.below > 0 { frame.write("↓", column: column, row: part.row + rows - 1, style: .dim) }
    if explanation > 0 { drawExplanation(from: part.row + rows, rows: explanation, in: &frame) }
  }

  /// The rows for the explanation of the selected setting, with a blank one above. The number is the same for every
  /// setting, so that the list does not move; it is 0 if the list needs all rows.
  private var explanationRows: Int {
    guard model.size.rows >= 16 else { return 0 }
    let (columns, maximum) = (model.size.columns - 2, SettingsRow.maximumExplanationLength)
    return 1 + (columns >= maximum ? 1 : maximum / columns + 1)
  }

  private func drawExplanation(from row: Int, rows: Int, in frame: inout Frame) {
    let settings = draft.groups(model.state).flatMap(\.rows)
    guard settings.indices.contains(draft.selected) else { return }
    let columns = frame.size.columns - 2
    let lines = TextLayout.wrapped(settings[draft.selected].explanation, columns: columns, maximumLines: rows - 1)
    for (place, line) in lines.enumerated() {
      frame.writeCentered(line, column: 1, columns: columns, row: row + 1 + place, style: .dim)
    }
  }

  private var lines: [Line] {
    var lines: [Line] = []
    var index = 0
    for group in draft.groups(model.state) {
      if !lines.isEmpty, model.size.rows >= 20 { lines.append(.blank) }
      lines.append(.header(group.title))
      for row in group.rows {
        lines.append(.row(row, index: index))
        index += 1
      }
    }
    return lines
  }

  private func draw(_ line: Line, column: Int, row: Int, columns: Int, in frame: inout Frame) {
    switch line {
    case .blank: break
    case .header(let title):
      frame.write(TextLayout.truncated(title, columns: columns), column: column, row: row, style: .dim)
    case .row(let setting, let index):
      frame.mark(
        Rectangle(column: column, row: row, columns: columns, rows: 1), PhoneCommand.chooseSetting(index))
      let isSelected = index == draft.selected
      let style = isSelected ? Style.bold : .plain
      if isSelected { frame.write("▸", column: column, row: row, style: .bold) }
      let typing = isSelected ? draft.typing : nil
      // The cursor at the end of the text stays visible in a text of any length.
      let value =
        typing.map { TextLayout.tail($0 + "▏", columns: columns / 2) } ?? Self.text(of: setting, columns: columns / 2)
      let valueColumn = column + columns - DisplayWidth.of(value)
      let changed = draft.changes[setting.key] == nil ? "" : " (changed)"
      let indent = 2 + 2 * setting.level
      let title = TextLayout.truncated(setting.title + changed, columns: valueColumn - column - indent - 1)
      frame.write(title, column: column + indent, row: row, style: style)
      let isOn = setting.isSwitch && setting.value == "on"
      frame.write(
        value, column: valueColumn, row: row, style: isOn ? Style(foreground: model.palette.green, isBold: true) : style
      )
      if isSelected {
        frame.select(Rectangle(column: column, row: row, columns: columns, rows: 1), model.palette)
      }
    }
  }

  /// Returns the value of a row. A switch also shows its position as a word, and a list shows that it has more
  /// values.
  private static func text(of row: SettingsRow, columns: Int) -> String {
    if case .standing = row.key { return TextLayout.truncated(row.value, columns: columns) }
    if row.isSwitch { return row.value == "on" ? "on  ━●" : "off ●━" }
    return "‹ \(TextLayout.truncated(row.value, columns: columns)) ›"
  }
}
