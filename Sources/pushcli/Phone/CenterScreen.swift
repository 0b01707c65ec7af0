import Foundation
import GatewayProtocol
import TerminalUI

extension PhoneModel {
  /// The number of rows that a page key moves over in the center.
  var centerPageSize: Int { max((contentEnd - 4) / (size.rows >= 20 ? 2 : 1), 1) }
}

/// The notification center: the received pushes by app and thread.
struct CenterScreen {
  let model: PhoneModel
  private let list: CenterList
  private let selected: Int
  /// The columns of the list; the preview beside it has the rest.
  private let columns: Int

  /// The minimum width of a screen with a preview beside the list, and the maximum width of the list on such a
  /// screen.
  private static let (minimumWidth, maximumListWidth) = (100, 80)

  init(model: PhoneModel) {
    self.model = model
    list = model.centerList
    selected = list.selectedIndex(model.center)
    let width = model.size.columns
    columns = width < Self.minimumWidth ? width : min(width / 2, Self.maximumListWidth)
  }

  /// True if the selected push is shown beside the list.
  private var hasPreview: Bool { columns < model.size.columns }

  /// True on tall screens, where an entry has its detail below it and an app has a blank row above it.
  private var isAiry: Bool { model.size.rows >= 20 }

  /// The area of the list.
  private var part: Rectangle {
    let top = (isAiry ? 3 : 2) + (model.center.search == nil ? 0 : 1)
    return Rectangle(column: 1, row: top, columns: columns - 2, rows: max(model.contentEnd - top, 1))
  }

  func draw(in frame: inout Frame) {
    let size = frame.size
    let title = model.center.search.map { "Search: \($0)\(model.center.isTyping ? "▏" : "")" } ?? "Notification Center"
    frame.writeCentered(title, column: 1, columns: size.columns - 2, row: 1, style: .bold)
    if model.center.search != nil { drawScopes(in: &frame) }
    guard !list.rows.isEmpty else { return drawEmpty(in: &frame) }
    let part = part
    var index = first(rows: part.rows)
    if index > 0 { frame.write("↑", column: columns - 1, row: part.row, style: .dim) }
    var row = part.row
    while index < list.rows.count {
      let height = min(self.height(index, isFirst: row == part.row), part.row + part.rows - row)
      guard height > 0, height == self.height(index, isFirst: row == part.row) || row == part.row else { break }
      let isSelected = index == selected
      frame.mark(
        Rectangle(column: 0, row: row, columns: columns, rows: height),
        isSelected ? PhoneCommand.open : PhoneCommand.choose(list.rows[index].key))
      draw(
        list.rows[index], Rectangle(column: part.column, row: row, columns: part.columns, rows: height), isSelected,
        in: &frame)
      row += height
      index += 1
    }
    if index < list.rows.count { frame.write("↓", column: columns - 1, row: model.contentEnd - 1, style: .dim) }
    if hasPreview { drawPreview(in: &frame) }
  }

  /// Draws the selected push, or the newest push of the selected app or thread.
  private func drawPreview(in frame: inout Frame) {
    let (part, size) = (part, frame.size)
    frame.fill(Rectangle(column: columns, row: part.row, columns: 1, rows: part.rows), with: "│", style: .dim)
    let entry = list.rows[selected...].lazy.compactMap { row -> PhoneState.Entry? in
      if case .entry(let index, _) = row { model.state.entries[index] } else { nil }
    }.first
    guard let entry else { return }
    drawPreview(
      of: entry, Rectangle(column: columns + 2, row: part.row, columns: size.columns - columns - 3, rows: part.rows),
      in: &frame)
  }

  /// Draws a push in full, at most 110 columns wide: wider lines are hard to read.
  private func drawPreview(of entry: PhoneState.Entry, _ part: Rectangle, in frame: inout Frame) {
    let columns = min(part.columns, 110)
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

  /// Draws the searchable parts with the chosen one in brackets. On narrow screens only the chosen part is drawn.
  private func drawScopes(in frame: inout Frame) {
    let scopes = model.centerScopes
    let texts = scopes.map { $0 == model.center.scope ? "[\(model.title(of: $0))]" : " \(model.title(of: $0)) " }
    let columns = frame.size.columns - 2
    if texts.reduce(0, { $0 + DisplayWidth.of($1) }) <= columns {
      var column = 1
      for (scope, text) in zip(scopes, texts) {
        let next = frame.write(text, column: column, row: 2, style: scope == model.center.scope ? .bold : .dim)
        frame.mark(
          Rectangle(column: column, row: 2, columns: next - column, rows: 1), PhoneCommand.setScope(scope))
        column = next
      }
    } else {
      frame.writeCentered(
        "⇥ ‹ \(model.title(of: model.center.scope)) ›", column: 1, columns: columns, row: 2, style: .bold)
      frame.mark(Rectangle(column: 0, row: 2, columns: columns, rows: 1), PhoneCommand.turnScope(1))
    }
  }

  private func drawEmpty(in frame: inout Frame) {
    let size = frame.size
    let words = model.center.search == nil ? "Nothing to Read" : "Nothing Found"
    frame.writeCentered(words, column: 0, columns: size.columns, row: size.rows / 2 - 1, style: .bold)
    let hint =
      model.center.search == nil ? "Alerts are kept here when they were answered." : "Esc shows everything again."
    frame.writeCentered(hint, column: 1, columns: size.columns - 2, row: size.rows / 2 + 1, style: .dim)
  }

  /// Returns the rows of a list row, including the blank row above it.
  private func height(_ index: Int, isFirst: Bool) -> Int {
    guard isAiry else { return 1 }
    switch list.rows[index] {
    case .app: return isFirst ? 1 : 2
    case .thread: return 1
    case .entry(let entry, _):
      if index == selected, !hasPreview { return 1 + selectedDetail.lines.count }
      return model.state.entries[entry].summary.detail.isEmpty ? 1 : 2
    }
  }

  /// The detail lines of the selected entry, which has more lines than the others, and the number of lines that do
  /// not fit.
  private var selectedDetail: (lines: [String], rest: Int) {
    guard list.rows.indices.contains(selected), case .entry(let entry, _) = list.rows[selected] else { return ([], 0) }
    let lines = TextLayout.wrapped(
      model.state.entries[entry].summary.detail, columns: max(part.columns - detailIndent, 1))
    let shown = Array(lines.prefix(max(part.rows / 3, 1)))
    return (shown, lines.count - shown.count)
  }

  /// The columns before the texts of an entry.
  private let detailIndent = 11

  /// Returns the first visible list row. The selected one is in the middle, as far as the length of the list allows.
  private func first(rows: Int) -> Int {
    func walkBack(from index: Int, room: Int) -> Int {
      var (index, room) = (index, room)
      while index > 0 {
        room -= height(index - 1, isFirst: false)
        if room < 0 { break }
        index -= 1
      }
      return index
    }
    let middle = walkBack(from: selected, room: (rows - height(selected, isFirst: false)) / 2)
    return min(middle, walkBack(from: list.rows.count, room: rows))
  }

  /// Draws a list row into its area; if the area includes a blank row above, the content is in the last row.
  private func draw(_ row: CenterList.Row, _ part: Rectangle, _ isSelected: Bool, in frame: inout Frame) {
    let line = part.row + part.rows - 1
    let mark = isSelected ? "▸" : " "
    switch row {
    case .app(let app, let count, let unread):
      frame.write(mark, column: part.column, row: line, style: .bold)
      let counts = unread > 0 ? "\(unread) unread of \(count)" : "\(count)"
      let columns = part.columns - counts.count - 4
      let next = frame.write(
        TextLayout.truncated(model.title(of: app), columns: columns), column: part.column + 2, row: line, style: .bold)
      let rule = Rectangle(
        column: next + 1, row: line, columns: part.column + part.columns - counts.count - next - 2, rows: 1)
      frame.fill(rule, with: "─", style: .dim)
      frame.write(counts, column: part.column + part.columns - counts.count, row: line, style: .dim)
    case .thread(_, let id, let count):
      frame.write(mark, column: part.column, row: line, style: .bold)
      let text = TextLayout.truncated("┌ \(id) · \(count)", columns: part.columns - 4)
      frame.write(text, column: part.column + 4, row: line, style: isSelected ? .bold : .dim)
    case .entry(let index, _): draw(model.state.entries[index], part, isSelected, in: &frame)
    }
    guard isSelected else { return }
    let first = if case .entry = row { part.row } else { line }
    frame.select(Rectangle(column: 0, row: first, columns: columns - 1, rows: line - first + 1), model.palette)
  }

  private func draw(_ entry: PhoneState.Entry, _ part: Rectangle, _ isSelected: Bool, in frame: inout Frame) {
    let line = part.row
    frame.write(isSelected ? "▸" : " ", column: part.column, row: line, style: .bold)
    if model.center.marked.contains(entry.ordinal) {
      frame.write("✓", column: part.column + 1, row: line, style: .bold)
    }
    if !entry.isRead {
      frame.write("●", column: part.column + 2, row: line, style: Style(foreground: model.palette.accent))
    }
    let moment = ClockText(timeZone: model.timeZone).moment(entry.push.received, now: model.now)
    let column = frame.write(moment, column: part.column + 4, row: line, style: .dim) + 2
    let end = part.column + part.columns
    let (headline, detail) = entry.summary
    let style = isSelected ? Style.bold : .plain
    let next = frame.write(
      TextLayout.truncated(headline, columns: end - column), column: column, row: line, style: style)
    if !isAiry {
      guard !detail.isEmpty, end - next > 8 else { return }
      let rest = TextLayout.truncated("— \(detail)", columns: end - next - 1)
      frame.write(rest, column: next + 1, row: line, style: .dim)
    } else if !isSelected || hasPreview {
      frame.write(TextLayout.truncated(detail, columns: end - column), column: column, row: line + 1, style: .dim)
    } else {
      drawSelectedDetail(part, in: &frame)
    }
  }

  private func drawSelectedDetail(_ part: Rectangle, in frame: inout Frame) {
    let (lines, rest) = selectedDetail
    let column = part.column + detailIndent
    for (place, text) in lines.prefix(max(part.rows - 1, 0)).enumerated() {
      let row = part.row + 1 + place
      let next = frame.write(text, column: column, row: row, style: .dim)
      guard rest > 0, place == lines.count - 1 else { continue }
      let mark = " … \(rest) more \(rest == 1 ? "line" : "lines") ↵ "
      frame.write(
        mark, column: min(next, part.column + part.columns - DisplayWidth.of(mark)), row: row, style: .dim)
    }
  }
}

extension Frame {
  /// Highlights the selected row of a list in color; a symbol also marks it (L7).
  mutating func select(_ part: Rectangle, _ palette: Palette) {
    highlight(part, background: palette.selection, ink: palette.selectionInk, faintInk: palette.faintSelectionInk)
  }
}
