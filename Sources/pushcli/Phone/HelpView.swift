import TerminalUI

/// All keys of the current screen, in an overlay. Columns are used if one column is too high, and the list scrolls if
/// the columns do not fit either.
struct HelpView {
  let bindings: [KeyBinding]
  let model: PhoneModel
  private let columns: [Column]
  private let rows: Int
  /// The range of visible rows.
  let viewport: Viewport

  private static let gap = 3

  private struct Column {
    var bindings: [KeyBinding]
    var labels: Int
    var helps: Int
  }

  init(_ bindings: [KeyBinding], _ model: PhoneModel, size: Size) {
    (self.bindings, self.model) = (bindings, model)
    let room = max(size.rows - 3, 1)
    func columns(of rows: Int) -> [Column] {
      stride(from: 0, to: bindings.count, by: rows).map {
        let part = Array(bindings[$0..<min($0 + rows, bindings.count)])
        return Column(
          bindings: part, labels: part.map { DisplayWidth.of(model.form.label($0.label)) }.max() ?? 0,
          helps: part.map { DisplayWidth.of($0.help) }.max() ?? 0)
      }
    }
    let fitting = columns(of: min(room, max(bindings.count, 1)))
    if Self.width(of: fitting) <= size.columns {
      (self.columns, rows) = (fitting, min(room, bindings.count))
      viewport = Viewport(count: rows, rows: rows, offset: 0)
    } else {
      self.columns = columns(of: max(bindings.count, 1))
      rows = room
      viewport = Viewport(count: bindings.count, rows: room, offset: model.helpOffset)
    }
  }

  private static func width(of columns: [Column]) -> Int {
    columns.reduce(4 + gap * (columns.count - 1)) { $0 + $1.labels + 2 + $1.helps }
  }

  func draw(in frame: inout Frame) {
    let palette = model.palette
    let width = min(max(Self.width(of: columns), 24), frame.size.columns)
    let box = Rectangle(
      column: (frame.size.columns - width) / 2, row: max((frame.size.rows - 1 - viewport.range.count - 2) / 2, 0),
      columns: width, rows: viewport.range.count + 2)
    frame.fill(box, style: palette.plain)
    frame.drawBox(box, style: palette.border)
    frame.write(" Keys ", column: box.column + 2, row: box.row, style: palette.plain)
    let mark = viewport.mark(columns: width - 6)
    if !mark.isEmpty {
      frame.write(
        " \(mark) ", column: box.column + width - DisplayWidth.of(mark) - 4, row: box.row + box.rows - 1,
        style: palette.faint)
    }
    var column = box.column + 2
    for part in columns {
      let end = box.column + width - 2
      for (place, index) in viewport.range.enumerated() where part.bindings.indices.contains(index) {
        let binding = part.bindings[index]
        let label = model.form.label(binding.label)
        // The help text of a long label begins after the label.
        let labels = min(part.labels, max(width / 2, 12))
        frame.write(label, column: column, row: box.row + 1 + place, style: palette.strong)
        let next = column + max(labels, DisplayWidth.of(label)) + 2
        frame.write(
          TextLayout.truncated(binding.help, columns: end - next), column: next, row: box.row + 1 + place,
          style: palette.plain)
      }
      column += part.labels + 2 + part.helps + Self.gap
    }
  }
}

extension PhoneModel {
  var helpView: HelpView { HelpView(keyBindings, self, size: size) }
}
