import GatewayProtocol
import PushPolicy
import TerminalUI

extension PhoneModel {
  /// Marks the alerts on screen as seen, and returns the IDs of the alerts that were not seen before.
  mutating func markAlertsPresented() -> [String] {
    guard isAlertShown else { return [] }
    let new = alerts.indices.filter { !alerts[$0].isPresented && AlertGroup.holds($0, alerts) }
    return new.map { index in
      record(.presented(ordinal: alerts[index].ordinal))
      return alerts[index].id
    }
  }

  /// Resets the focus, the scroll position and the sheet for the next alert.
  mutating func forgetFocus() {
    (focusedButton, alertOffset) = (nil, 0)
    if let sheet, sheet.purpose.isOfAlert { self.sheet = nil }
  }

  /// Removes an alert that ended on another device.
  mutating func retract(_ id: String, answer: GivenAnswer? = nil) {
    if alerts.first?.id == id { forgetFocus() }
    func isNews(to entry: PhoneState.Entry) -> Bool {
      entry.push.id == id && (!entry.isRead || answer.map { entry.answer != $0 } ?? false)
    }
    let isQueued = alerts.contains { $0.id == id } || state.snoozed.contains { $0.alert.id == id }
    if isQueued || state.entries.contains(where: isNews) {
      record(.retracted(id: id, answer: answer))
    }
  }

  /// Handles an answer from another screen. Answers of this device's other screens are already in the history.
  mutating func takeAnswer(_ id: String, _ answer: GivenAnswer) {
    let isQueued = alerts.contains { $0.id == id } || state.snoozed.contains { $0.alert.id == id }
    guard answer.device != device || isQueued else { return }
    // View, Close and OK do not answer the question of an alert.
    retract(id, answer: ["view", "close", "ok"].contains(answer.action) ? nil : answer)
  }

  /// Removes the alert and the entry of a push that its sender retracted. The badge stays, because only the sender
  /// sets it.
  mutating func takeBack(_ id: String, _ topic: String) {
    func isTakenBack(_ push: DevicePush) -> Bool { push.id == id && push.topic == topic }
    if alerts.first.map({ isTakenBack($0.push) }) ?? false { forgetFocus() }
    for alert in alerts where isTakenBack(alert.push) { record(.answered(ordinal: alert.ordinal, isRead: true)) }
    for one in state.snoozed where isTakenBack(one.alert.push) { record(.answered(ordinal: one.alert.ordinal)) }
    let gone = state.entries.filter { isTakenBack($0.push) }.map(\.ordinal)
    if !gone.isEmpty { record(.cleared(gone)) }
  }

  mutating func moveFocus(_ step: Int) {
    if let sheet = sheetInFront {
      self.sheet?.focus = min(max(sheet.focus + step, 0), sheet.titles.count - 1)
    } else if let group {
      focusedButton = min(max(alertFocus + step, 0), group.choices.count - 1)
    }
  }

  /// Presses a button of the alert: one dismisses it, the other opens the app or the actions (A3, A4, A6).
  mutating func press(_ button: Int) -> [PhoneEffect] {
    guard let group, group.choices.indices.contains(button) else { return [] }
    let choice = group.choices[button]
    if choice.id == AlertAction.options {
      sheet = ActionSheet(.alert, group.first.alert.sheetChoices)
      return []
    }
    let settled = settledAlerts
    guard group.isBurst else { return answer([(group.first, choice.id)]) }
    return choice.id == "view"
      ? answer(settled.map { ($0, $0.viewing) })
      : answer(settled.map { ($0, $0.cancellation) }, isRead: settled.count == 1)
  }

  /// Answers alerts. View of one alert opens its push, View of several opens their app.
  ///
  /// - Parameter isRead: True if the user has seen the full texts of the alerts.
  mutating func answer(_ answers: [(alert: QueuedAlert, action: String)], isRead: Bool = true) -> [PhoneEffect] {
    forgetFocus()
    var effects: [PhoneEffect] = []
    for (alert, action) in answers {
      record(.answered(ordinal: alert.ordinal, isRead: isRead))
      let pending = PhoneState.PendingAnswer(id: alert.id, action: action)
      record(.pending(pending))
      effects += sendAnswers([pending])
    }
    if let alert = answers.last(where: { $0.action == "view" })?.alert, state.app(alert.push.topic) != nil {
      (settings, draft) = (nil, nil)
      let isNewest = state.entries(of: alert.push.topic).first?.ordinal == alert.ordinal
      openApp(alert.push.topic, selected: answers.count > 1 || isNewest ? nil : alert.ordinal, readsAll: false)
      effects.append(.open(alert.push))
    }
    return effects
  }

  /// Returns the effects that send answers, if the phone is connected. They are repeated until the gateway confirms
  /// them.
  func sendAnswers(_ answers: [PhoneState.PendingAnswer]) -> [PhoneEffect] {
    guard case .connected = connection else { return [] }
    return answers.map { .answer(id: $0.id, action: $0.action) }
  }

  /// Handles the gateway's confirmation of an answer: this phone's answer, or one that arrived earlier.
  mutating func noteAnswer(_ id: String, _ action: String?) {
    guard let own = state.pendingAnswers.first(where: { $0.id == id }) else { return }
    record(.answerTaken(id: id))
    if let action, action != own.action { notice = "Answered before, on another device: \(action)" }
  }

  /// Presses the cancelling button of the alerts on screen.
  private mutating func cancelAlert() -> [PhoneEffect] {
    let settled = settledAlerts
    return answer(settled.map { ($0, $0.cancellation) }, isRead: settled.count == 1)
  }

  /// Returns to the home screen, which has the same effect as the cancelling button (A7).
  mutating func leaveAlert() -> [PhoneEffect] {
    let effects = cancelAlert()
    go(.home)
    return effects
  }

  /// Quits. An alert on screen is dismissed as with its cancelling button (A7), unless it has just appeared. Queued
  /// alerts stay in the queue.
  mutating func quit() -> [PhoneEffect] {
    guard isAlertShown, isAlertReady else { return [.quit] }
    return cancelAlert() + [.quit]
  }

  // MARK: Several alerts

  /// Returns the alerts that a button of the sheet closes: `group`, `plain` or `all`.
  func alerts(closedBy action: String, before ordinal: Int) -> [QueuedAlert] {
    let known = alerts.filter { $0.ordinal < ordinal }
    return switch action {
    case "group": known.filter { $0.push.topic == alerts.first?.push.topic && !$0.standsAlone }
    case "plain": known.filter { !$0.standsAlone }
    default: known
    }
  }

  /// Opens a sheet for closing queued alerts: those of the app, all except questions and urgent alerts, or all.
  mutating func askWhichToClose() {
    let limit = state.nextOrdinal
    let counts = ["group", "plain", "all"].map { alerts(closedBy: $0, before: limit).count }
    let app = alerts.first?.push.app.name ?? ""
    var choices: [AlertAction] = []
    let questions = counts[2] - counts[1]
    if questions > 0 {
      choices.append(AlertAction(id: "all", title: "Close \(counts[2]) + Questions", isDestructive: true))
    }
    if counts[0] > 0, counts[0] < counts[1] {
      choices.append(AlertAction(id: "group", title: "Close \(counts[0]) of \(app)"))
    }
    if counts[1] > 0 { choices.append(AlertAction(id: "plain", title: "Close All \(counts[1])")) }
    sheet = ActionSheet(.closeAlerts(before: limit), choices)
  }

  /// Applies a button of the sheet; every button closes the sheet (X5).
  mutating func pick(_ index: Int) -> [PhoneEffect] {
    guard let sheet else { return [] }
    self.sheet = nil
    guard sheet.choices.indices.contains(index) else { return [] }
    let action = sheet.choices[index].id
    switch sheet.purpose {
    case .alert: return group.map { answer([($0.first, action)]) } ?? []
    case .closeAlerts(let limit):
      return answer(alerts(closedBy: action, before: limit).map { ($0, $0.cancellation) }, isRead: false)
    case .snoozeAlerts(let ordinals): snooze(ordinals, Snooze(rawValue: action))
    case .snoozeEntry(let ordinal): snooze([ordinal], Snooze(rawValue: action))
    case .clearAll: clear("Clear All", state.entries.map(\.ordinal))
    case .discardSettings: settings = nil
    case .discardDraft: draft = nil
    }
    return []
  }
}
