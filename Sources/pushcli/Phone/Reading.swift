import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

/// The reading state of the message on an app's screen.
struct Reading: Sendable, Equatable {
  /// True if the message has the whole screen; otherwise it is below the list.
  var isOpen = false
  /// The first visible line.
  var offset = 0
  /// True if the payload is unfolded.
  var showsPayload = false
  /// True if the message was opened in the center, to which Back then returns.
  var isFromCenter = false
}

/// The full content of a push in lines.
struct MessageLines {
  private(set) var lines: [(text: String, style: Style)] = []
  /// The index of the line that shows or hides the payload.
  private(set) var fold = 0

  /// - Parameter hasPayload: True to add the line that unfolds the payload.
  init(_ entry: PhoneState.Entry, _ model: PhoneModel, columns: Int, hasPayload: Bool = true) {
    let push = entry.push
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
    let (link, image) = (push.link, push.image)
    if let link, link != image { add(link, Style(foreground: model.palette.accent, link: link)) }
    if let image { add("Image: \(image)", Style(foreground: model.palette.accent, link: image)) }
    if let attachment = push.attachment { add(attachment.words, Style(foreground: model.palette.accent)) }
    lines.append(("", .plain))
    for fact in MessageLines.facts(entry) + MessageLines.answers(entry, model) { add(fact, .dim) }
    guard hasPayload else { return }
    fold = lines.count
    let payload = push.payload
    add("\(model.reading.showsPayload ? "▾" : "▸") p payload · \(payload.utf8.count) bytes", .dim)
    if model.reading.showsPayload { add(payload, .dim) }
  }

  /// Returns further information about a push, in addition to its texts.
  static func facts(_ entry: PhoneState.Entry) -> [String] {
    let push = entry.push
    var facts = [entry.answerWords].compactMap { $0 }
    switch push.presentation.held?.by {
    case .budget: facts.append("Kept in the center: the app had used up its alerts")
    case .summary: facts.append("Kept for the summary")
    case nil: break
    }
    if push.level != .active { facts.append("Level: \(push.level.rawValue)") }
    if !push.threadID.isEmpty { facts.append("Thread: \(push.threadID)") }
    return facts
  }

  /// Returns the actions of a push and the state of its answer.
  private static func answers(_ entry: PhoneState.Entry, _ model: PhoneModel) -> [String] {
    let push = entry.push
    let actions = push.presentation.listed?.actions ?? []
    let titles = actions.isEmpty ? [] : ["Actions: " + actions.map(\.title).joined(separator: " · ")]
    if model.alerts.contains(where: { $0.id == push.id }) { return titles + ["Not answered yet"] }
    if let answer = model.state.pendingAnswers.first(where: { $0.id == push.id }) {
      let title = actions.first { $0.id == answer.action }?.title ?? MessageLines.title(of: answer.action)
      return titles + ["Answered here: \(title), which the gateway has not confirmed"]
    }
    if entry.answerWords != nil || actions.isEmpty { return titles }
    return titles + ["Answered, or no longer asked"]
  }

  /// Returns the title of an answer that every alert offers.
  private static func title(of answer: String) -> String {
    switch answer {
    case "view": "View"
    case "close": "Close"
    case "ok": "OK"
    default: answer
    }
  }
}
