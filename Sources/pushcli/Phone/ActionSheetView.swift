import TerminalUI

/// The action sheet on screen: buttons one above the other, anchored to the bottom and both sides (X2), Cancel apart.
struct ActionSheetView {
  var sheet: ActionSheet

  private static let surface = Style(foreground: Palette.ink, background: Palette.surface)
  private static let line = Style(foreground: Palette.line, background: Palette.surface)

  func draw(in frame: inout Frame) {
    let titles = sheet.titles
    let isAiry = frame.size.rows >= 2 * titles.count + 6
    let height = isAiry ? 2 * titles.count + 1 : titles.count + 2
    let box = Rectangle(
      column: 0, row: frame.size.rows - 1 - height, columns: frame.size.columns, rows: height)
    frame.fill(box, style: Self.surface)
    frame.drawBox(box, border: .rounded, style: Self.line)
    for (index, title) in titles.enumerated() {
      let row = box.row + 1 + index * (isAiry ? 2 : 1)
      let part = Rectangle(column: 1, row: row, columns: box.columns - 2, rows: 1)
      if isAiry, index > 0 {
        frame.fill(Rectangle(column: 1, row: row - 1, columns: box.columns - 2, rows: 1), with: "─", style: Self.line)
      }
      let style = style(of: index)
      frame.fill(part, style: style)
      let text = TextLayout.truncated(title, columns: part.columns - 6)
      let label = index == sheet.focus ? "▸ \(text) ◂" : text
      frame.writeCentered(label, column: part.column, columns: part.columns, row: row, style: style)
      frame.write(String(index + 1), column: 2, row: row, style: style)
    }
  }

  /// Destructive choices are red (X3) and on top, which says it without the color.
  private func style(of index: Int) -> Style {
    let isDestructive = sheet.choices.indices.contains(index) && sheet.choices[index].isDestructive
    let color = isDestructive ? Palette.red : Palette.blue
    return index == sheet.focus
      ? Style(foreground: Palette.white, background: color, isBold: true)
      : Style(foreground: color, background: Palette.surface, isBold: index == sheet.choices.count)
  }
}
