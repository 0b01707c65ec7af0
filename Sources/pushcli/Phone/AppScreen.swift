import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

/// The screen that View opens: an app's pushes, newest first; of the chosen one everything, with its link and payload.
struct AppScreen {
  var model: PhoneModel
  var app: InstalledApp
  var selected: Int?

  func draw(in frame: inout Frame) {
    let size = frame.size
    let title = (app.app.icon.isEmpty ? "" : app.app.icon + " ") + app.app.name
    frame.writeCentered(title, column: 10, columns: size.columns - 20, row: 1, style: .bold)
    frame.write("‹ Back", column: 1, row: 1, style: Style(foreground: Palette.accent))
    drawRule(row: 2, label: "", in: &frame)
    let entries = model.state.entries(of: app.app.topic)
    guard !entries.isEmpty else {
      frame.writeCentered("No pushes yet", column: 0, columns: size.columns, row: size.rows / 2, style: .dim)
      return
    }
    let index = entries.firstIndex { $0.ordinal == selected } ?? 0
    let push = entries[index].push
    let room = size.contentEnd - 3
    let detail = detail(of: push, columns: size.columns - 2, rows: min(max(room / 2, 1), 16))
    let listRows = room - detail.count - 1
    let part = Rectangle(column: 0, row: 3, columns: size.columns, rows: listRows)
    drawList(entries, part, selected: index, in: &frame)
    drawRule(row: 3 + listRows, label: size.rows >= 20 ? " Message and Payload " : " Payload ", in: &frame)
    for (place, line) in detail.enumerated() {
      frame.write(line.text, column: 1, row: 4 + listRows + place, style: line.style)
    }
  }

  /// The texts of a push as far as there is room, its link, and the payload.
  private func detail(of push: DevicePush, columns: Int, rows: Int) -> [(text: String, style: Style)] {
    var lines: [(text: String, style: Style)] = []
    let alert = push.presentation.listed
    if model.size.rows >= 20, let alert {
      let body = [alert.subtitle, alert.body].filter { !$0.isEmpty }.joined(separator: "\n")
      lines += TextLayout.wrapped(body, columns: columns, maximumLines: rows / 2).map { ($0, .plain) }
    }
    if let link = push.link {
      lines.append((TextLayout.truncated(link, columns: columns), Style(foreground: Palette.accent, link: link)))
    }
    let payload = TextLayout.wrapped(push.payload, columns: columns, maximumLines: max(rows - lines.count, 1))
    return lines + payload.map { ($0, .dim) }
  }

  /// Two rows per push, beginning so that the chosen one is in sight.
  private func drawList(_ entries: [PhoneState.Entry], _ part: Rectangle, selected: Int, in frame: inout Frame) {
    let capacity = max(part.rows / 2, 1)
    let first = max(0, selected - capacity + 1)
    for (place, entry) in entries[first...].prefix(capacity).enumerated() {
      let (row, isSelected) = (part.row + place * 2, first + place == selected)
      frame.write(isSelected ? "▸" : " ", column: 1, row: row, style: .bold)
      let moment = ClockText(timeZone: model.timeZone).moment(entry.push.received, now: model.now)
      let column = frame.write(moment, column: 3, row: row, style: .dim) + 2
      let columns = part.columns - column - 1
      let (headline, detail) = entry.push.summary
      let style = isSelected ? Style.bold : .plain
      frame.write(TextLayout.truncated(headline, columns: columns), column: column, row: row, style: style)
      guard part.rows > 1 else { return }
      frame.write(TextLayout.truncated(detail, columns: columns), column: column, row: row + 1, style: .dim)
    }
  }

  private func drawRule(row: Int, label: String, in frame: inout Frame) {
    let rule = Rectangle(column: 1, row: row, columns: frame.size.columns - 2, rows: 1)
    frame.fill(rule, with: "─", style: .dim)
    frame.write(label, column: 3, row: row, style: .dim)
  }
}
