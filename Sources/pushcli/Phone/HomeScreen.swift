import TerminalUI

/// The apps of the phone with their badges, in pages.
struct HomeScreen {
  var model: PhoneModel

  func draw(in frame: inout Frame) {
    let size = frame.size
    guard !model.apps.isEmpty else {
      frame.writeCentered("No apps yet", column: 0, columns: size.columns, row: size.rows / 2 - 1, style: .bold)
      let hint = "What is pushed to this device appears here."
      let columns = min(size.columns - 4, 44)
      for (index, line) in TextLayout.wrapped(hint, columns: columns).enumerated() {
        frame.writeCentered(line, column: 0, columns: size.columns, row: size.rows / 2 + 1 + index, style: .dim)
      }
      drawNotice(page: "", in: &frame)
      return
    }
    let grid = HomeGrid(size: size, apps: model.apps)
    let selected = model.selectedIndex
    let page = selected / grid.pageSize
    let first = page * grid.pageSize
    for index in first..<min(first + grid.pageSize, model.apps.count) {
      let tile = grid.tile(at: index - first)
      AppIcon(
        app: model.apps[index], isSelected: index == selected, palette: model.palette, form: model.form
      ).draw(tile, columns: grid.cell.columns, in: &frame)
    }
    let pageCount = (model.apps.count - 1) / grid.pageSize + 1
    drawNotice(page: pageCount > 1 ? Self.dots(page: page, of: pageCount, columns: size.columns) : "", in: &frame)
  }

  /// One dot per page, the present one filled; numbers when there are too many.
  private static func dots(page: Int, of count: Int, columns: Int) -> String {
    guard count * 2 <= columns / 2 else { return "page \(page + 1) of \(count)" }
    return (0..<count).map { $0 == page ? "●" : "○" }.joined(separator: " ")
  }

  /// The row above the help: what the person should know, else the pages.
  private func drawNotice(page: String, in frame: inout Frame) {
    var text = page
    if model.state.droppedCount > 0 {
      let count = model.state.droppedCount == 1 ? "1 older push" : "\(model.state.droppedCount) older pushes"
      text = "\(count) dropped, mailbox full"
    }
    let columns = frame.size.columns - 2
    frame.writeCentered(text, column: 1, columns: columns, row: model.contentEnd - 1, style: .dim)
  }
}
