import GatewayProtocol
import TerminalUI

/// The tabs at the bottom of non-modal screens, with their keys.
struct TabBar {
  var model: PhoneModel

  func draw(in frame: inout Frame) {
    guard frame.size.hasTabs else { return }
    let unread = model.state.unreadCount
    let tabs = [
      ("1 Home", model.screen == .home, PhoneCommand.Tab.home),
      ("2 Center" + (unread > 0 ? " · \(unread)" : ""), model.screen == .center, .center),
      ("3 Settings", model.settings != nil, .settings),
    ]
    let texts = tabs.map { $0.1 ? "[\($0.0)]" : " \($0.0) " }
    let gap = frame.size.columns >= 60 ? 4 : 1
    var column = (frame.size.columns - texts.reduce(gap * (texts.count - 1)) { $0 + $1.count }) / 2
    for (index, text) in texts.enumerated() {
      let style = tabs[index].1 ? Style.bold : .dim
      let (start, row) = (max(column, 0), frame.size.rows - 2)
      let end = frame.write(text, column: start, row: row, style: style)
      frame.mark(Rectangle(column: start, row: row, columns: end - start, rows: 1), PhoneCommand.show(tabs[index].2))
      column = end + gap
    }
  }
}
