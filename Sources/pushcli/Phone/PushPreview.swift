import GatewayProtocol
import TerminalUI

/// A push in full, beside the list in which it is selected.
struct PushPreview {
  let entry: PhoneState.Entry
  let model: PhoneModel

  /// The maximum width in columns; wider lines are hard to read.
  private static let maximumColumns = 110

  func draw(_ part: Rectangle, in frame: inout Frame) {
    let columns = min(part.columns, Self.maximumColumns)
    frame.mark(part, PhoneCommand.open)
    let moment = ClockText(timeZone: model.timeZone).moment(entry.push.received, now: model.now)
    let title = TextLayout.truncated(model.title(of: entry.push.app), columns: columns - moment.count - 2)
    frame.write(title, column: part.column, row: part.row, style: .bold)
    frame.write(moment, column: part.column + columns - moment.count, row: part.row, style: .dim)
    let message = MessageLines(entry, model, columns: columns, hasPayload: false)
    // One blank row separates the app from the message; the last row is for the count of hidden lines.
    let room = max(part.rows - 2, 0)
    let isWhole = message.lines.count <= room
    let viewport = Viewport(count: message.lines.count, rows: isWhole ? room : max(room - 1, 0), offset: 0)
    for (place, index) in viewport.range.enumerated() {
      let line = message.lines[index]
      frame.write(line.text, column: part.column, row: part.row + 2 + place, style: line.style)
    }
    guard !isWhole, room > 0 else { return }
    let mark = "\(viewport.below) more \(viewport.below == 1 ? "line" : "lines") ↵"
    frame.write(mark, column: part.column, row: part.row + part.rows - 1, style: .dim)
  }
}

extension Frame {
  /// Highlights the selected row of a list in color; a symbol also marks it (L7).
  mutating func select(_ part: Rectangle, _ palette: Palette) {
    highlight(part, background: palette.selection, ink: palette.selectionInk, faintInk: palette.faintSelectionInk)
  }
}
