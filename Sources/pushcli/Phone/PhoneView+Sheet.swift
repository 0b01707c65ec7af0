import PushPolicy
import TerminalUI

extension PhoneModel {
  /// Draws the action sheet: buttons one above the other, anchored to the bottom and both sides (X2), with Cancel last.
  func drawSheet(_ sheet: ActionSheet, in frame: inout Frame) {
    frame.recede(palette.receded)
    let titles = sheet.titles
    let isSmall = !frame.size.holdsPhone
    let isAiry = frame.size.rows >= 2 * titles.count + 6
    let height = isSmall ? titles.count : isAiry ? 2 * titles.count + 1 : titles.count + 2
    let box = Rectangle(
      column: 0, row: frame.size.rows - (isSmall ? 0 : 1) - height, columns: frame.size.columns, rows: height)
    if !isAiry { drawQuestion(of: sheet, above: box.row, in: &frame) }
    frame.fill(box, style: palette.plain)
    if !isSmall { frame.drawBox(box, style: palette.border) }
    let inset = isSmall ? 0 : 1
    for (index, title) in titles.enumerated() {
      let row = box.row + inset + index * (isAiry ? 2 : 1)
      let part = Rectangle(column: inset, row: row, columns: box.columns - 2 * inset, rows: 1)
      if isAiry, index > 0 {
        frame.fill(
          Rectangle(column: 1, row: row - 1, columns: box.columns - 2, rows: 1), with: "─", style: palette.border)
      }
      let style = style(of: index, sheet)
      frame.fill(part, style: style)
      let text = TextLayout.truncated(title, columns: part.columns - 6)
      let label = index == sheet.focus ? "▸ \(text) ◂" : text
      frame.writeCentered(label, column: part.column, columns: part.columns, row: row, style: style)
      frame.write(String(index + 1), column: inset + 1, row: row, style: style)
      frame.mark(part, PhoneCommand.press(index))
    }
  }

  /// Draws the text of the alert above the sheet, which covers the alert on small screens.
  private func drawQuestion(of sheet: ActionSheet, above end: Int, in frame: inout Frame) {
    let question =
      switch sheet.purpose {
      case .alert: group?.first.alert.texts.first ?? ""
      case .closeAlerts: "\(alerts.count) alerts wait"
      case .snoozeAlerts, .snoozeEntry: "Show again"
      case .category(let category, _): "\(category) is new"
      case .unsubscribeAlert, .unsubscribeEntry: "No more marketing from this app"
      case .clearAll, .discardSettings, .discardDraft: ""
      }
    guard !question.isEmpty, end > 0 else { return }
    let columns = frame.size.columns - 2
    let lines = TextLayout.wrapped(question, columns: columns, maximumLines: min(end, 2))
    frame.fill(
      Rectangle(column: 0, row: end - lines.count, columns: columns + 2, rows: lines.count), style: palette.plain)
    for (index, line) in lines.enumerated() {
      frame.writeCentered(
        line, column: 1, columns: columns, row: end - lines.count + index, style: palette.strong)
    }
  }

  /// Returns the style of a button. Destructive buttons are red (X3) and on top, so that color is not the only
  /// distinction.
  private func style(of index: Int, _ sheet: ActionSheet) -> Style {
    let isDestructive = sheet.choices.indices.contains(index) && sheet.choices[index].isDestructive
    return palette.button(
      isDestructive: isDestructive, isFocused: index == sheet.focus, isBold: index == sheet.choices.count)
  }
}
