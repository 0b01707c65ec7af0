import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

/// The handling of alerts.
///
/// A line without a number applies to the pending question, after it has been shown for half a second. A number refers
/// to a list that the user requested. So a line never applies to an alert that arrived during its typing.
extension PlainPhone {
  /// Asks about the alert in front, unless it was asked last.
  mutating func ask() {
    let ordinals = phone.group?.ordinals ?? []
    guard ordinals != asked, !burst.isOverfull else { return }
    askAgain()
  }

  mutating func askAgain() {
    asked = phone.group?.ordinals ?? []
    if subject == .nothing, !asked.isEmpty { subject = .question }
    if subject == .question, asked.isEmpty { subject = .nothing }
    showing.formUnion(asked)
    if let question { say(question) }
  }

  // MARK: The pending alert

  /// Presses a button of the pending alert.
  mutating func press(_ index: Int) -> [PhoneEffect] {
    guard let group = phone.group else { return refuse("no alert is pending") }
    guard !phone.isTooSoon else { return refuse(PlainText.tooSoon) }
    guard choices.indices.contains(index) else {
      return refuse("no button \(index &+ 1): it has \(titles(choices))")
    }
    let choice = choices[index]
    guard !group.isBurst else { return closing(phone.settledAlerts.count, choice) { $0.press(index) } }
    return pressed(choice, of: group.first)
  }

  /// Returns the index of the button that the user names: by its number, its action, or the first letters of its title.
  static func index(of name: String, in choices: [AlertAction]) -> Int? {
    let name = name.lowercased()
    if let number = Int(name) { return number &- 1 }
    if let exact = choices.firstIndex(where: { $0.title.lowercased() == name || $0.id.lowercased() == name }) {
      return exact
    }
    let near = choices.indices.filter { choices[$0].title.lowercased().hasPrefix(name) }
    return near.count == 1 && !name.isEmpty ? near[0] : nil
  }

  private mutating func pressed(_ choice: AlertAction, of alert: QueuedAlert) -> [PhoneEffect] {
    let effects = phone.answer([(alert, choice.id)])
    say("\(alert.push.app.name), \(alert.push.quotedHeadline): \(choice.words).")
    opened = alert.ordinal
    if choice.id == "view", let entry = entry(ordinal: alert.ordinal) { say(page: message(entry, number: nil)) }
    return effects
  }

  private mutating func closing(
    _ count: Int, _ choice: AlertAction, _ body: (inout PhoneModel) -> [PhoneEffect]
  ) -> [PhoneEffect] {
    let topic = phone.group?.first.push.topic
    let effects = body(&phone)
    guard choice.id == "view", let app = topic.flatMap({ state.app($0) }) else {
      say("\(counted(count, "alert")) closed.")
      return effects
    }
    listApp(app.app.topic)
    return effects
  }

  /// Prints the reason why a line has no effect.
  mutating func refuse(_ words: String) -> [PhoneEffect] {
    say(words)
    return []
  }

  /// Prints the reason why there is no such value.
  mutating func refuse<Value>(_ words: String) -> Value? {
    say(words)
    return nil
  }

  // MARK: Other alerts

  /// Returns the alert of a push in the list; nil with a message if there is none.
  private mutating func alert(_ number: Int) -> QueuedAlert? {
    guard let ordinal = ordinal(number) else { return nil }
    guard let alert = phone.alerts.first(where: { $0.ordinal == ordinal }) else {
      return refuse("push \(number) asks nothing now; alerts lists the pending alerts")
    }
    return alert
  }

  mutating func answer(_ typed: String) -> [PhoneEffect] {
    if let index = PlainPhone.index(of: typed, in: choices) { return press(index) }
    let parts = typed.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let number = Int(parts[0]) else {
      guard phone.group != nil else {
        return refuse("no alert is pending: answer NUMBER BUTTON is for one in the list")
      }
      return refuse("no button \(PlainLine.quote(typed)): it has \(titles(choices))")
    }
    guard let alert = alert(number) else { return [] }
    let choices = alert.alert.linearChoices
    guard let index = PlainPhone.index(of: String(parts[1]), in: choices), choices.indices.contains(index) else {
      return refuse("no button \(PlainLine.quote(String(parts[1]))): push \(number) has \(titles(choices))")
    }
    return pressed(choices[index], of: alert)
  }

  mutating func view(_ number: Int?) -> [PhoneEffect] {
    guard let number else {
      guard phone.group != nil else { return refuse("no alert is pending: open NUMBER prints a push of the list") }
      guard let index = choices.firstIndex(where: { $0.id == "view" }) else {
        return refuse("that has no View: it has \(titles(choices))")
      }
      return press(index)
    }
    guard let alert = alert(number) else { return [] }
    guard let choice = alert.alert.linearChoices.first(where: { $0.id == "view" }) else {
      return refuse("push \(number) has no View: it has \(titles(alert.alert.linearChoices))")
    }
    return pressed(choice, of: alert)
  }

  mutating func close(_ rest: PlainLine.Rest) -> [PhoneEffect] {
    switch rest {
    case .nothing:
      guard phone.group != nil else { return refuse("no alert is pending") }
      return press(choices.firstIndex { $0.id == "close" || $0.id == "ok" } ?? 0)
    case .numbers(let numbers):
      var chosen: [QueuedAlert] = []
      for number in numbers {
        guard let alert = alert(number) else { return [] }
        if !chosen.contains(where: { $0.ordinal == alert.ordinal }) { chosen.append(alert) }
      }
      return close(chosen)
    case .text(let name): return close(named: name.lowercased())
    }
  }

  private mutating func close(named name: String) -> [PhoneEffect] {
    let selected: [QueuedAlert]
    switch name {
    case "everything": selected = phone.alerts
    case "all": selected = phone.alerts(closedBy: "plain", before: state.nextOrdinal)
    default:
      guard let app = app(name) else {
        return refuse("close which? Say numbers of the list, an app, all or everything: \(unknownApp(name))")
      }
      selected = phone.alerts.filter { $0.push.topic == app.topic && !$0.standsAlone }
    }
    let ready = selected.filter { isReady($0.ordinal) }
    guard !ready.isEmpty || selected.isEmpty else { return refuse(PlainText.tooSoon) }
    var left: [String] = []
    if ready.count < selected.count { left.append("\(selected.count - ready.count) only just appeared") }
    let others = phone.alerts.count { $0.standsAlone }
    if name == "all", others > 0 {
      left.append(
        "\(counted(others, "question or urgent one", "questions or urgent ones")) left: close everything closes those")
    }
    return close(ready, leaving: left.map { "; " + $0 }.joined())
  }

  /// Returns true if the alert has been shown for long enough to be answered.
  private func isReady(_ ordinal: Int) -> Bool {
    shown[ordinal].map { phone.now.timeIntervalSince($0) >= PlainPhone.readinessTime } ?? false
  }

  /// - Parameter left: the message about the alerts that remain.
  private mutating func close(_ alerts: [QueuedAlert], leaving left: String = "") -> [PhoneEffect] {
    guard !alerts.isEmpty else { return refuse("no alert to close\(left)") }
    let effects = phone.answer(alerts.map { ($0, $0.cancellation) }, isRead: alerts.count == 1)
    say("\(counted(alerts.count, "alert")) closed\(left).")
    return effects
  }
}
