import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

/// The modal alert in the middle of the screen (A1, A2): the app's name, the message, one or two buttons.
///
/// The alert has a preferred width and blank lines between its texts. If it does not fit, the blank lines are removed
/// first, then the alert becomes wider, and finally it scrolls. On the smallest screens it has no border.
struct AlertView {
  private static let preferredColumns = 46
  private static let maximumColumns = 76
  /// The rows for the borders, the name, the line above the buttons, and the buttons.
  private static let fixedRows = 5

  let group: AlertGroup
  let model: PhoneModel
  private let palette: Palette
  private let layout: Layout

  init(_ group: AlertGroup, _ model: PhoneModel, size: Size) {
    (self.group, self.model) = (group, model)
    palette = model.palette
    layout = Self.layout(group, model, size)
  }

  /// The range of visible lines.
  var viewport: Viewport { layout.viewport }

  func draw(in frame: inout Frame) {
    guard frame.size.holdsPhone else { return drawWithoutBorder(in: &frame) }
    let box = Rectangle(
      column: (frame.size.columns - layout.columns) / 2,
      row: max((frame.size.rows - 1 - layout.viewport.range.count - Self.fixedRows) / 2, 0),
      columns: layout.columns,
      rows: layout.viewport.range.count + Self.fixedRows
    )
    frame.fill(box, style: palette.plain)
    frame.drawBox(box, style: palette.border)
    drawCaption(box, in: &frame)
    drawLines(Rectangle(column: box.column + 2, row: box.row + 2, columns: box.columns - 4, rows: 0), in: &frame)
    drawButtons(box, in: &frame)
  }

  private struct Line {
    var text: String
    var style: Style
    var isCentered = true
  }

  private struct Layout {
    var lines: [Line]
    var viewport: Viewport
    var columns: Int
  }

  private func drawLines(_ part: Rectangle, in frame: inout Frame) {
    for (place, index) in layout.viewport.range.enumerated() {
      let (line, row) = (layout.lines[index], part.row + place)
      if line.isCentered {
        frame.writeCentered(line.text, column: part.column, columns: part.columns, row: row, style: line.style)
      } else {
        frame.write(line.text, column: part.column, row: row, style: line.style)
      }
    }
  }

  private var name: String {
    model.title(of: group.first.push.app) + (group.thread.isEmpty ? "" : " · \(group.thread)")
  }

  private var more: String {
    model.alerts.count > group.members.count ? "\(model.alerts.count - group.members.count) more" : ""
  }

  /// Draws the time and the number of further alerts on the border, and the app's name below it.
  private func drawCaption(_ box: Rectangle, in frame: inout Frame) {
    let newest = group.members[group.members.count - 1]
    let moment = ClockText(timeZone: model.timeZone).moment(newest.push.received, now: model.now)
    frame.write(" \(moment) ", column: box.column + 2, row: box.row, style: palette.faint)
    if !more.isEmpty {
      frame.write(
        " \(more) ", column: box.column + box.columns - 4 - more.count, row: box.row, style: palette.faint)
    }
    frame.writeCentered(
      name, column: box.column + 2, columns: box.columns - 4, row: box.row + 1, style: palette.faint)
  }

  private func drawButtons(_ box: Rectangle, in frame: inout Frame) {
    let row = box.row + box.rows - 2
    let inner = Rectangle(column: box.column + 1, row: row, columns: box.columns - 2, rows: 1)
    var rule = inner
    rule.row -= 1
    frame.fill(rule, with: "─", style: palette.border)
    frame.write("├", column: box.column, row: row - 1, style: palette.border)
    frame.write("┤", column: box.column + box.columns - 1, row: row - 1, style: palette.border)
    let left = (inner.columns - 1) / 2
    if group.choices.count == 2 {
      for (character, offset) in [("┬", -1), ("│", 0), ("┴", 1)] {
        frame.write(character, column: inner.column + left, row: row + offset, style: palette.border)
      }
    }
    let mark = layout.viewport.mark(columns: inner.columns - 6)
    if !mark.isEmpty {
      frame.write(
        " \(mark) ", column: inner.column + inner.columns - DisplayWidth.of(mark) - 3, row: row - 1,
        style: palette.faint)
    }
    drawChoices(inner, in: &frame)
  }

  private func drawChoices(_ part: Rectangle, in frame: inout Frame) {
    let choices = group.choices
    let left = (part.columns - 1) / 2
    // No button has the focus until keys apply to the alert.
    let focus = model.isAlertReady ? model.alertFocus : nil
    for (index, choice) in choices.enumerated() {
      let button = Rectangle(
        column: part.column + (index == 0 ? 0 : left + 1), row: part.row,
        columns: choices.count == 1 ? part.columns : index == 0 ? left : part.columns - left - 1, rows: 1)
      let style = palette.button(isDestructive: choice.isDestructive, isFocused: index == focus)
      frame.fill(button, style: style)
      let text = TextLayout.truncated(choice.title, columns: button.columns - 2)
      let air = DisplayWidth.of(text) + 4 <= button.columns ? " " : ""
      let label = index == focus ? "▸\(air)\(text)\(air)◂" : text
      frame.writeCentered(label, column: button.column, columns: button.columns, row: button.row, style: style)
      frame.mark(button, PhoneCommand.press(index))
    }
  }

  // MARK: The smallest screens

  /// Draws the name, the lines and the buttons without a border.
  private func drawWithoutBorder(in frame: inout Frame) {
    let size = frame.size
    frame.fill(Rectangle(column: 0, row: 0, columns: size.columns, rows: size.rows), style: palette.plain)
    let side = layout.viewport.isWhole ? more : layout.viewport.mark(columns: size.columns / 3)
    let room = size.columns - DisplayWidth.of(side) - 1
    frame.write(TextLayout.truncated(name, columns: room), column: 0, row: 0, style: palette.faint)
    frame.write(side, column: room + 1, row: 0, style: palette.faint)
    drawLines(Rectangle(column: 0, row: 1, columns: size.columns, rows: 0), in: &frame)
    drawChoices(Rectangle(column: 0, row: size.rows - 1, columns: size.columns, rows: 1), in: &frame)
  }

  // MARK: Layout

  /// Returns the lines between the name and the buttons, the visible range of them, and the width of the whole alert.
  private static func layout(_ group: AlertGroup, _ model: PhoneModel, _ size: Size) -> Layout {
    guard size.holdsPhone else {
      let lines = Self.lines(group, model, columns: size.columns, isAiry: false)
      return Layout(
        lines: lines, viewport: Viewport(count: lines.count, rows: size.rows - 2, offset: model.alertOffset),
        columns: size.columns)
    }
    let rows = size.rows - 1 - fixedRows
    let preferred = min(preferredColumns, size.columns - 2)
    var columns = preferred
    func whole(_ lines: [Line], _ width: Int) -> Layout? {
      lines.count > rows
        ? nil
        : Layout(lines: lines, viewport: Viewport(count: lines.count, rows: lines.count, offset: 0), columns: width)
    }
    // For a group, truncating the line of each alert is better than wrapping it.
    let wider = [min(maximumColumns, size.columns - 2), size.columns]
    if group.isBurst {
      columns = wider[0]
      for (isAiry, details) in [(true, 3), (true, 1), (false, 1), (true, 0), (false, 0)]
      where details == 0 || group.members.count < rows {
        let lines = burst(group, model, columns: columns - 4, isAiry: isAiry, details: details)
        if let layout = whole(lines, columns) { return layout }
      }
    } else {
      for width in [preferred] + wider {
        columns = width
        for isAiry in [true, false] {
          // Wrapping stops as soon as the text is known not to fit.
          let lines = Self.lines(group, model, columns: width - 4, isAiry: isAiry, atMost: rows + 1)
          if let layout = whole(lines, width) { return layout }
        }
      }
    }
    let lines = Self.lines(group, model, columns: columns - 4, isAiry: false)
    return Layout(
      lines: lines, viewport: Viewport(count: lines.count, rows: rows, offset: model.alertOffset), columns: columns)
  }

  private static func lines(
    _ group: AlertGroup, _ model: PhoneModel, columns: Int, isAiry: Bool, atMost maximum: Int = .max
  ) -> [Line] {
    group.isBurst
      ? burst(group, model, columns: columns, isAiry: isAiry)
      : texts(group.first, model.palette, columns: columns, isAiry: isAiry, atMost: maximum)
  }

  /// Returns the lines of the three texts and of the attachment. If `isAiry` is true, a blank line precedes the title,
  /// the body, the attachment and the buttons.
  private static func texts(
    _ queued: QueuedAlert, _ palette: Palette, columns: Int, isAiry: Bool, atMost maximum: Int
  ) -> [Line] {
    let alert = queued.alert
    let texts = [alert.title, alert.subtitle, alert.body].map {
      TextLayout.wrapped($0, columns: columns, maximumLines: maximum)
    }
    let blank = isAiry ? [Line(text: "", style: palette.plain)] : []
    let title = texts[0].map { Line(text: $0, style: palette.strong) }
    let head = title + texts[1].map { Line(text: $0, style: palette.plain) }
    // A short body is centered like the title; a long one is easier to read left-aligned.
    let body = texts[2].map { Line(text: $0, style: palette.plain, isCentered: texts[2].count <= 3) }
    let file = (queued.push.attachment?.words).map {
      TextLayout.wrapped($0, columns: columns, maximumLines: maximum)
    }
    let attachment = (file ?? []).map { Line(text: $0, style: palette.faint) }
    var lines = blank + head + (head.isEmpty || body.isEmpty ? [] : blank) + body
    if !attachment.isEmpty { lines += blank + attachment }
    return lines + blank
  }

  /// Returns the number of alerts and one line for each, newest first. View leads to their full texts.
  ///
  /// - Parameter details: The maximum number of lines of further text below the line of each alert.
  private static func burst(
    _ group: AlertGroup, _ model: PhoneModel, columns: Int, isAiry: Bool, details: Int = 0
  ) -> [Line] {
    let palette = model.palette
    let blank = isAiry ? [Line(text: "", style: palette.plain)] : []
    let clock = ClockText(timeZone: model.timeZone)
    let lines = group.members.reversed().flatMap { member -> [Line] in
      let moment = clock.moment(member.push.received, now: model.now)
      let (headline, detail) = member.push.summary
      let indent = String(repeating: " ", count: moment.count + 2)
      let below = TextLayout.wrapped(detail, columns: max(columns - indent.count, 1), maximumLines: details)
      let head = TextLayout.truncated("\(moment)  \(headline)", columns: columns)
      return [Line(text: head, style: palette.plain, isCentered: false)]
        + below.map { Line(text: indent + $0, style: palette.faint, isCentered: false) }
    }
    return blank + [Line(text: "\(group.members.count) Notifications", style: palette.strong)] + blank + lines + blank
  }
}
