import Foundation
import PushPolicy

/// The screen that View opens: an app's recent pushes, newest first, and the payload of the chosen one.
struct AppScreen {
  var model: PhoneModel
  var app: InstalledApp
  var selectedID: String?

  func draw(in frame: inout Frame) {
    let size = frame.size
    let title = (app.app.icon.isEmpty ? "" : app.app.icon + " ") + app.app.name
    frame.writeCentred(title, column: 10, columns: size.columns - 20, row: 1, style: .bold)
    frame.write("‹ Home", column: 1, row: 1, style: Style(foreground: Palette.blue))
    drawRule(row: 2, label: "", in: &frame)
    guard !app.recent.isEmpty else {
      frame.writeCentred("No pushes yet", column: 0, columns: size.columns, row: size.rows / 2, style: .dim)
      return
    }
    let selected = app.recent.firstIndex { $0.id == selectedID } ?? 0
    let room = size.rows - 4
    let columns = size.columns - 2
    let payload = TextLayout.wrapped(
      app.recent[selected].payload,
      columns: columns,
      maximumLines: min(max(room / 3, 1), 12)
    )
    let listRows = room - payload.count - 1
    drawList(Rectangle(column: 0, row: 3, columns: size.columns, rows: listRows), selected: selected, in: &frame)
    drawRule(row: 3 + listRows, label: " Payload ", in: &frame)
    for (index, line) in payload.enumerated() {
      frame.write(line, column: 1, row: 4 + listRows + index, style: .dim)
    }
  }

  /// Two rows per push, beginning so that the chosen one is in sight.
  private func drawList(_ part: Rectangle, selected: Int, in frame: inout Frame) {
    let capacity = max(part.rows / 2, 1)
    let first = max(0, selected - capacity + 1)
    for (place, push) in app.recent[first...].prefix(capacity).enumerated() {
      let (row, isSelected) = (part.row + place * 2, first + place == selected)
      frame.write(isSelected ? "▸" : " ", column: 1, row: row, style: .bold)
      let moment = ClockText(timeZone: model.timeZone).moment(push.received, now: model.now)
      let column = frame.write(moment, column: 3, row: row, style: .dim) + 2
      let columns = part.columns - column - 1
      let (headline, detail) = push.summary
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

extension PhonePush {
  /// A headline and a detail for lists: the texts of the alert, or in words what came instead.
  fileprivate var summary: (headline: String, detail: String) {
    guard let alert = presentation.alert else {
      let parts = [
        presentation.badge.map { $0 == 0 ? "Badge cleared" : "Badge \($0)" },
        presentation.sound.map { "Sound \($0.name)" },
      ].compactMap { $0 }
      return (parts.isEmpty ? "Nothing presented" : parts.joined(separator: ", "), "")
    }
    let texts = [alert.title, alert.subtitle, alert.body].filter { !$0.isEmpty }
    return (texts.first ?? "", texts.dropFirst().joined(separator: " — "))
  }
}
