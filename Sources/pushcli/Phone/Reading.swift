import GatewayProtocol
import PushPolicy
import TerminalUI

/// How the message of an app's screen is read.
struct Reading: Sendable, Equatable {
  /// Whether it has the whole screen; else it stands below the list.
  var isOpen = false
  /// The first line that is shown.
  var offset = 0
  /// Whether the payload is unfolded.
  var showsPayload = false
  /// Whether the person came from the center, which is where the way back leads.
  var isFromCenter = false
}

/// All that was sent with a push, in lines.
struct MessageLines {
  typealias Line = (text: String, style: Style)

  private(set) var lines: [Line] = []
  /// The line with the fold of the payload.
  private(set) var fold = 0

  init(_ push: DevicePush, _ model: PhoneModel, columns: Int) {
    func add(_ text: String, _ style: Style) {
      lines += TextLayout.wrapped(text, columns: columns).map { ($0, style) }
    }
    if let alert = push.presentation.listed {
      add(alert.title, .bold)
      add(alert.subtitle, .plain)
      if !lines.isEmpty, !alert.body.isEmpty { lines.append(("", .plain)) }
      add(alert.body, .plain)
    } else {
      add(push.summary.headline, .plain)
    }
    if let link = push.link { add(link, Style(foreground: model.palette.accent, link: link)) }
    lines.append(("", .plain))
    for fact in MessageLines.facts(push) { add(fact, .dim) }
    fold = lines.count
    let payload = push.payload
    add("\(model.reading.showsPayload ? "▾" : "▸") p payload · \(payload.utf8.count) bytes", .dim)
    if model.reading.showsPayload { add(payload, .dim) }
  }

  /// What is worth knowing besides the texts.
  static func facts(_ push: DevicePush) -> [String] {
    var facts: [String] = []
    switch push.presentation.held?.by {
    case .budget: facts.append("Kept in the center: the app had used up its alerts")
    case .summary: facts.append("Kept for the summary")
    case nil: break
    }
    if push.level != .active { facts.append("Level: \(push.level.rawValue)") }
    if !push.threadID.isEmpty { facts.append("Thread: \(push.threadID)") }
    return facts
  }
}
