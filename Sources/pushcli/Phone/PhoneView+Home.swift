import GatewayProtocol
import TerminalUI

extension PhoneModel {
  /// Draws the apps of the phone with their badges, in pages.
  func drawHome(in frame: inout Frame) {
    let size = frame.size
    guard !apps.isEmpty else {
      frame.writeCentered("No apps yet", column: 0, columns: size.columns, row: size.rows / 2 - 1, style: .bold)
      let hint = "What is pushed to this device appears here."
      let columns = min(size.columns - 4, 44)
      for (index, line) in TextLayout.wrapped(hint, columns: columns).enumerated() {
        frame.writeCentered(line, column: 0, columns: size.columns, row: size.rows / 2 + 1 + index, style: .dim)
      }
      drawNotice(page: "", in: &frame)
      return
    }
    let grid = HomeGrid(size: size, apps: apps)
    let selected = selectedIndex
    let page = selected / grid.pageSize
    let first = page * grid.pageSize
    let colors = palette.tiles(of: apps.map(\.app.topic))
    let shown = first..<min(first + grid.pageSize, apps.count)
    for index in shown {
      let (app, tile) = (apps[index], grid.tile(at: index - first))
      drawIcon(
        of: app, tile, columns: grid.cell.columns, color: colors[app.app.topic] ?? palette.tiles[0],
        isSelected: index == selected, in: &frame)
    }
    drawLatest(from: grid.end(ofApps: shown.count), in: &frame)
    let pageCount = (apps.count - 1) / grid.pageSize + 1
    drawNotice(page: pageCount > 1 ? Self.dots(page: page, of: pageCount, columns: size.columns) : "", in: &frame)
  }

  // MARK: The last pushes

  /// The minimum number of rows for the latest pushes, including the line above them.
  private static let minimumRows = 4

  /// Draws the latest pushes with texts, newest first, one in each row, if the apps leave enough rows.
  private func drawLatest(from top: Int, in frame: inout Frame) {
    let columns = frame.size.columns - 2
    let room = contentEnd - 1 - top
    guard room >= Self.minimumRows else { return }
    let entries = state.entries.reversed().lazy.filter(\.isAlert).prefix(room - 1)
    guard !entries.isEmpty else { return }
    frame.fill(Rectangle(column: 1, row: top, columns: columns, rows: 1), with: "─", style: .dim)
    frame.write(" Latest ", column: 3, row: top, style: .dim)
    for (place, entry) in entries.enumerated() {
      draw(entry, Rectangle(column: 1, row: top + 1 + place, columns: columns, rows: 1), in: &frame)
    }
  }

  private func draw(_ entry: PhoneState.Entry, _ part: Rectangle, in frame: inout Frame) {
    frame.mark(part, PhoneCommand.choose(.entry(entry.ordinal)))
    if !entry.isRead {
      frame.write("●", column: part.column, row: part.row, style: Style(foreground: palette.accent))
    }
    let moment = ClockText(timeZone: timeZone).moment(entry.push.received, now: now)
    var column = frame.write(moment, column: part.column + 2, row: part.row, style: .dim) + 2
    let end = part.column + part.columns
    let name = TextLayout.truncated(title(of: entry.push.app), columns: min(part.columns / 4, 20))
    let next = frame.write(name, column: column, row: part.row, style: .bold) + 2
    // The headlines are aligned if the screen is wide enough.
    column = part.columns >= 60 ? max(next, column + min(part.columns / 4, 20) + 2) : next
    let (headline, detail) = entry.summary
    column = frame.write(TextLayout.truncated(headline, columns: end - column), column: column, row: part.row)
    guard !detail.isEmpty, end - column > 8 else { return }
    frame.write(
      TextLayout.truncated("— \(detail)", columns: end - column - 1), column: column + 1, row: part.row, style: .dim)
  }

  // MARK: The pages

  /// Returns one dot for each page, filled for the current one; a page number if there are too many pages.
  private static func dots(page: Int, of count: Int, columns: Int) -> String {
    guard count * 2 <= columns / 2 else { return "page \(page + 1) of \(count)" }
    return (0..<count).map { $0 == page ? "●" : "○" }.joined(separator: " ")
  }

  /// Draws the row above the help: a message about dropped pushes, or the page indicator.
  private func drawNotice(page: String, in frame: inout Frame) {
    var text = page
    if state.droppedCount > 0 {
      let count = state.droppedCount == 1 ? "1 older push" : "\(state.droppedCount) older pushes"
      text = "\(count) dropped, mailbox full"
    }
    let columns = frame.size.columns - 2
    frame.writeCentered(text, column: 1, columns: columns, row: contentEnd - 1, style: .dim)
  }
}
