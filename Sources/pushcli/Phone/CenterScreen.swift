import Foundation
import GatewayProtocol
import TerminalUI

extension PhoneModel {
  /// How many rows of the center a page key moves over.
  var centerPageSize: Int { max((size.contentEnd - 4) / (size.rows >= 20 ? 2 : 1), 1) }
}

/// The notification center: what arrived, by app and thread.
struct CenterScreen {
  var model: PhoneModel

  /// On tall screens an entry has its detail below it, and an app a blank row above it.
  private var isAiry: Bool { model.size.rows >= 20 }

  func draw(in frame: inout Frame) {
    let list = CenterList(model.state, search: model.center.search)
    let size = frame.size
    let title = model.center.search.map { "Search: \($0)\(model.center.isTyping ? "▏" : "")" } ?? "Notification Center"
    frame.writeCentered(title, column: 1, columns: size.columns - 2, row: 1, style: .bold)
    let top = isAiry ? 3 : 2
    guard !list.rows.isEmpty else { return drawEmpty(in: &frame) }
    let part = Rectangle(column: 1, row: top, columns: size.columns - 2, rows: size.contentEnd - top)
    let selected = list.selectedIndex(model.center)
    var index = first(list, selected: selected, rows: part.rows)
    var row = part.row
    while index < list.rows.count {
      let height = self.height(list, index, isFirst: row == part.row)
      guard row + height <= part.row + part.rows || row == part.row else { break }
      draw(list.rows[index], at: row + height, height: height, isSelected: index == selected, part, in: &frame)
      row += height
      index += 1
    }
    if index < list.rows.count { frame.write("↓", column: size.columns - 1, row: size.contentEnd - 1, style: .dim) }
  }

  private func drawEmpty(in frame: inout Frame) {
    let size = frame.size
    let words = model.center.search == nil ? "Nothing to Read" : "Nothing Found"
    frame.writeCentered(words, column: 0, columns: size.columns, row: size.rows / 2 - 1, style: .bold)
    let hint =
      model.center.search == nil ? "Alerts are kept here when they were answered." : "Esc shows everything again."
    frame.writeCentered(hint, column: 1, columns: size.columns - 2, row: size.rows / 2 + 1, style: .dim)
  }

  /// Rows that an element takes, with the blank ones above it.
  private func height(_ list: CenterList, _ index: Int, isFirst: Bool) -> Int {
    guard isAiry else { return 1 }
    switch list.rows[index] {
    case .app: return isFirst ? 1 : 2
    case .thread: return 1
    case .entry(let entry, _): return model.state.entries[entry].push.summary.detail.isEmpty ? 1 : 2
    }
  }

  /// The first element on screen: so that the selected one is in the middle, as far as the list allows.
  private func first(_ list: CenterList, selected: Int, rows: Int) -> Int {
    func walkBack(from index: Int, room: Int) -> Int {
      var (index, room) = (index, room)
      while index > 0 {
        room -= height(list, index - 1, isFirst: false)
        if room < 0 { break }
        index -= 1
      }
      return index
    }
    let middle = walkBack(from: selected, room: rows / 2)
    return min(middle, walkBack(from: list.rows.count, room: rows))
  }

  /// Draws an element whose rows end above `end`.
  private func draw(
    _ row: CenterList.Row, at end: Int, height: Int, isSelected: Bool, _ part: Rectangle, in frame: inout Frame
  ) {
    let style = isSelected ? Style.bold : .plain
    let mark = isSelected ? "▸" : " "
    switch row {
    case .app(let app, let count, let unread):
      let line = end - 1
      frame.write(mark, column: part.column, row: line, style: .bold)
      let name = (app.icon.isEmpty ? "" : app.icon + " ") + app.name
      let counts = unread > 0 ? "\(unread) unread of \(count)" : "\(count)"
      let columns = part.columns - counts.count - 4
      let next = frame.write(
        TextLayout.truncated(name, columns: columns), column: part.column + 2, row: line, style: .bold)
      let rule = Rectangle(
        column: next + 1, row: line, columns: part.column + part.columns - counts.count - next - 2, rows: 1)
      frame.fill(rule, with: "─", style: .dim)
      frame.write(counts, column: part.column + part.columns - counts.count, row: line, style: .dim)
    case .thread(_, let id, let count):
      frame.write(mark, column: part.column, row: end - 1, style: .bold)
      let text = TextLayout.truncated("┌ \(id) · \(count)", columns: part.columns - 4)
      frame.write(text, column: part.column + 4, row: end - 1, style: isSelected ? .bold : .dim)
    case .entry(let index, let ordinal):
      let (entry, line) = (model.state.entries[index], end - height)
      frame.write(mark, column: part.column, row: line, style: .bold)
      if model.center.marked.contains(ordinal) { frame.write("✓", column: part.column + 1, row: line, style: .bold) }
      if !entry.isRead {
        frame.write("●", column: part.column + 2, row: line, style: Style(foreground: Palette.accent))
      }
      let moment = ClockText(timeZone: model.timeZone).moment(entry.push.received, now: model.now)
      let column = frame.write(moment, column: part.column + 4, row: line, style: .dim) + 2
      let columns = part.column + part.columns - column
      let (headline, detail) = entry.push.summary
      let isOneLine = height == 1 && !detail.isEmpty
      let next = frame.write(TextLayout.truncated(headline, columns: columns), column: column, row: line, style: style)
      if isOneLine, part.column + part.columns - next > 8 {
        let rest = TextLayout.truncated("— \(detail)", columns: part.column + part.columns - next - 1)
        frame.write(rest, column: next + 1, row: line, style: .dim)
      } else if height > 1 {
        frame.write(TextLayout.truncated(detail, columns: columns), column: column, row: line + 1, style: .dim)
      }
    }
  }
}
