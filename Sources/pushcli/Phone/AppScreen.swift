import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

/// The screen that View opens: the pushes of an app, newest first, and the selected push in full with its link and
/// payload.
///
/// The message occupies the rows that the list leaves, and the whole screen while it is open for reading.
struct AppScreen {
  let model: PhoneModel
  let app: InstalledApp
  private let entries: [PhoneState.Entry]
  private let index: Int
  private let message: MessageLines?

  private static let top = 3

  init(model: PhoneModel, app: InstalledApp, selected: Int?) {
    (self.model, self.app) = (model, app)
    entries = model.state.entries(of: app.app.topic)
    index = entries.firstIndex { $0.ordinal == selected } ?? 0
    message =
      entries.isEmpty ? nil : MessageLines(entries[index], model, columns: max(model.size.columns - 2, 1))
  }

  /// The visible lines of the message.
  var viewport: Viewport { Viewport(count: message?.lines.count ?? 0, rows: messageRows, offset: model.reading.offset) }

  /// The row at which the message begins, and the index of its line that folds the payload.
  var messageTop: Int { model.contentEnd - messageRows }
  var fold: Int? { message?.fold }

  private var room: Int { max(model.contentEnd - AppScreen.top, 1) }

  /// The number of rows of the list. The message below it can reduce it to half of the space, but not below one push.
  private var listRows: Int {
    guard !model.reading.isOpen else { return 0 }
    let preferred = min(entries.count * 2, max(room - 1 - (message?.lines.count ?? 0), room / 2))
    return min(max(preferred / 2 * 2, 2), max(room - 2, 1))
  }

  private var messageRows: Int { model.reading.isOpen ? room : room - listRows - 1 }

  func draw(in frame: inout Frame) {
    let size = frame.size
    let back = frame.write("‹ Back", column: 1, row: 1, style: Style(foreground: model.palette.accent))
    frame.mark(Rectangle(column: 0, row: 1, columns: back + 1, rows: 1), PhoneCommand.back)
    frame.writeCentered(
      model.title(of: app.app), column: 10, columns: size.columns - 20, row: 1, style: .bold)
    drawRule(row: 2, label: "", in: &frame)
    guard let message else {
      frame.writeCentered("No pushes yet", column: 0, columns: size.columns, row: size.rows / 2, style: .dim)
      return
    }
    let viewport = viewport
    let mark = viewport.mark(columns: size.columns - 24)
    if model.reading.isOpen {
      drawRule(row: 2, label: " \(index + 1) of \(entries.count) ", mark: mark, in: &frame)
    } else {
      drawList(Rectangle(column: 0, row: AppScreen.top, columns: size.columns, rows: listRows), in: &frame)
      let row = AppScreen.top + listRows
      drawRule(row: row, label: " Message ", mark: mark.isEmpty ? "" : "\(mark) · ↵ reads", in: &frame)
    }
    let top = messageTop
    frame.mark(
      Rectangle(column: 0, row: top, columns: size.columns, rows: messageRows),
      model.reading.isOpen ? PhoneCommand.nothing : PhoneCommand.open)
    for (place, index) in viewport.range.enumerated() {
      frame.write(message.lines[index].text, column: 1, row: top + place, style: message.lines[index].style)
      guard index == message.fold else { continue }
      frame.mark(Rectangle(column: 0, row: top + place, columns: size.columns, rows: 1), PhoneCommand.foldPayload)
    }
  }

  /// Draws two rows for each push, from a first push that keeps the selected one visible.
  private func drawList(_ part: Rectangle, in frame: inout Frame) {
    let capacity = max(part.rows / 2, 1)
    let first = max(0, index - capacity + 1)
    for (place, entry) in entries[first...].prefix(capacity).enumerated() {
      let (row, isSelected) = (part.row + place * 2, first + place == index)
      frame.mark(
        Rectangle(column: 0, row: row, columns: part.columns, rows: min(part.rows, 2)),
        isSelected ? PhoneCommand.open : PhoneCommand.choose(.entry(entry.ordinal)))
      frame.write(isSelected ? "▸" : " ", column: 1, row: row, style: .bold)
      let moment = ClockText(timeZone: model.timeZone).moment(entry.push.received, now: model.now)
      let column = frame.write(moment, column: 3, row: row, style: .dim) + 2
      let columns = part.columns - column - 1
      let (headline, detail) = entry.summary
      let style = isSelected ? Style.bold : .plain
      frame.write(TextLayout.truncated(headline, columns: columns), column: column, row: row, style: style)
      let rows = min(part.rows, 2)
      if rows > 1 {
        frame.write(TextLayout.truncated(detail, columns: columns), column: column, row: row + 1, style: .dim)
      }
      guard isSelected else { continue }
      frame.select(
        Rectangle(column: 0, row: row, columns: part.columns, rows: detail.isEmpty ? 1 : rows), model.palette)
    }
  }

  private func drawRule(row: Int, label: String, mark: String = "", in frame: inout Frame) {
    let rule = Rectangle(column: 1, row: row, columns: frame.size.columns - 2, rows: 1)
    frame.fill(rule, with: "─", style: .dim)
    frame.write(label, column: 3, row: row, style: .dim)
    guard !mark.isEmpty else { return }
    frame.write(" \(mark) ", column: frame.size.columns - DisplayWidth.of(mark) - 5, row: row, style: .dim)
  }
}

extension PhoneModel {
  /// The screen of the app that is shown.
  var appScreen: AppScreen? {
    guard case .app(let topic, let selected) = screen else { return nil }
    // A summary belongs to no app of the home screen.
    let app = state.app(topic) ?? selectedEntry.map { InstalledApp(app: $0.push.app) }
    return app.map { AppScreen(model: self, app: $0, selected: selected) }
  }
}
