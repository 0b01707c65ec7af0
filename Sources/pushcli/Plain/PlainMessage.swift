import Foundation
import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

/// The texts of the linear form, made from the phone's state.
extension PlainPhone {
  /// Returns a line of a list: `3. 14:03, unread, critical: Earthquake in Chile, Off the coast`.
  func line(number: Int, of entry: PhoneState.Entry) -> String {
    let (headline, detail) = entry.summary
    let head = ["\(number). \(clock.moment(entry.push.received, now: phone.now))"] + facts(entry)
    let text = [headline, detail].filter { !$0.isEmpty }.joined(separator: ", ")
    return TextLayout.truncated("\(head.joined(separator: ", ")): \(text)", columns: columns)
  }

  private func facts(_ entry: PhoneState.Entry) -> [String] {
    var facts: [String] = []
    if phone.alerts.contains(where: { $0.ordinal == entry.ordinal }) { facts.append("waits") }
    if !entry.isRead { facts.append("unread") }
    if entry.push.level != .active { facts.append(entry.push.level.rawValue) }
    return facts
  }

  /// Returns the details of a push without its payload.
  ///
  /// - Parameter number: its number in the list, for the words that can be typed.
  func message(_ entry: PhoneState.Entry, number: Int?) -> [String] {
    let push = entry.push
    let suffix = number.map { " \($0)" } ?? ""
    var lines = ["\(push.app.name), \(clock.moment(push.received, now: phone.now)):"]
    let texts = push.presentation.listed?.texts ?? [push.summary.headline]
    lines += texts.flatMap { TextLayout.wrapped($0, columns: columns) }
    // Not shortened, so that the link can be copied.
    if let link = push.link, link != push.image { lines.append("Link: \(link)") }
    if let image = push.image { lines.append("Image: \(image)") }
    if let attachment = push.attachment { lines.append("\(attachment.words), save\(suffix) saves it") }
    lines += MessageLines.facts(entry)
    lines.append("Payload: \(push.payload.utf8.count) bytes, payload\(suffix) prints them")
    if let alert = phone.alerts.first(where: { $0.ordinal == entry.ordinal }) {
      lines.append("It needs an answer: " + titles(alert.alert.linearChoices) + ". Type answer\(suffix) and a button")
    }
    return lines
  }

  /// Returns the possible answers, each with its number.
  func titles(_ choices: [AlertAction]) -> String {
    choices.enumerated().map { "\($0 + 1) \($1.words)" }.joined(separator: "  ")
  }

  /// The pending question: the alert in front, or all alerts of its app.
  var question: String? {
    guard let group = phone.group else { return nil }
    let what = group.isBurst ? "\(group.members.count) alerts" : group.first.push.summary.headline
    let verb = subject == .pushes || subject == .settings ? "answer " : ""
    return Sanitizer.line(
      "\(group.first.push.app.name), \(TextLayout.truncated(what, columns: columns)): \(verb)\(titles(choices))?")
  }

  /// The possible answers to the alert in front.
  var choices: [AlertAction] {
    guard let group = phone.group else { return [] }
    return group.isBurst ? group.choices : group.first.alert.linearChoices
  }

  /// The state of the connection to the gateway.
  var connection: String {
    switch phone.connection {
    case .connecting: return "connecting"
    case .connected(let gateway): return "connected to \(gateway)"
    case .refused: return "not connected: this device was removed or has another secret"
    case .disconnected(let lastConnected, let retryAt, let reason):
      let last = lastConnected.map { "last at \(clock.moment($0, now: phone.now)), " } ?? ""
      let why = reason.isEmpty ? "" : " (\(reason))"
      return "not connected\(why): \(last)next try at \(clock.timeWithSeconds(retryAt)), try connects now"
    }
  }

  /// The state of the gateway connection, the alerts, the pushes and the settings.
  var status: [String] {
    let circumstances = phone.circumstances.isEmpty ? "" : "; " + phone.circumstances.joined(separator: ", ")
    var lines = ["\(phone.device), \(connection)\(circumstances)."]
    lines.append(
      "\(counted(phone.alerts.count, "alert")) \(phone.alerts.count == 1 ? "waits" : "wait"), "
        + "\(state.unreadCount) unread, \(counted(state.apps.count, "app")).")
    if state.droppedCount > 0 { lines.append("\(PlainPhone.dropped(state.droppedCount)), noted forgets that.") }
    if let undo = phone.undo { lines.append("undo: Undo \(undo.title)") }
    if let redo = phone.redo { lines.append("redo: Redo \(redo.title)") }
    return lines
  }

  static func dropped(_ count: Int) -> String {
    "\(counted(count, "older push", "older pushes")) dropped, mailbox full"
  }

  /// The apps with their badges.
  var appLines: [String] {
    guard !state.apps.isEmpty else { return ["No apps yet: apps that send to this device appear here."] }
    return state.apps.map { app in
      let unread = state.entries.count { !$0.isRead && $0.isAlert && $0.push.topic == app.app.topic }
      let badge = app.badge > 0 ? ", badge \(app.badge)" : ""
      return "\(app.app.name) (\(app.app.topic))\(badge)\(unread > 0 ? ", \(unread) unread" : "")"
    }
  }
}

extension AlertAction {
  /// The title, with a note for the color that marks it on the screen.
  var words: String { Sanitizer.line(title) + (isDestructive ? " (destructive)" : "") }
}

extension PlainText {
  /// The maximum number of lines that are printed when a push arrives; opening the push prints all of them.
  private static let maximumLines = 10

  /// Returns the lines of a push that has just arrived, without its question, cut to a length that is easy to read at
  /// once.
  static func arrival(of push: DevicePush, timeZone: TimeZone, columns: Int) -> [String] {
    let lines = paragraph(for: push, timeZone: timeZone, hasButtons: false).split(separator: "\n").map(String.init)
    let whole = lines.flatMap { line in
      line.hasPrefix("Link: ") ? [line] : TextLayout.wrapped(line, columns: columns)
    }
    guard whole.count > maximumLines else { return whole }
    return whole.prefix(maximumLines) + [
      "\(counted(whole.count - maximumLines, "more line")): list \(push.app.name), and open"
    ]
  }
}
