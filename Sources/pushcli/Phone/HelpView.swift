import TerminalUI

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
