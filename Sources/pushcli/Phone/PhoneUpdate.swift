import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

extension PhoneModel: ProgramModel {
  static let quit = PhoneEffect.quit

  static func message(for input: TerminalInput) -> PhoneMessage { .input(input) }

  /// Lets `message` happen at `now` and returns what is to be done about it: first what is to be stored.
  mutating func update(_ message: PhoneMessage, now: Date) -> [PhoneEffect] {
    self.now = now
    let shown = attention?.ordinal
    var effects: [PhoneEffect] = []
    switch message {
    case .input(.key(let key)): effects = press(key)
    case .input(.resized(let size)): self.size = size
    case .input(.focus(let hasFocus)): self.hasFocus = hasFocus
    case .input(.tick): break
    case .input(.terminate): effects = quit()
    case .connection(let connection):
      self.connection = connection
      effects = sendAnswers(state.pendingAnswers)
    case .push(let push): effects = receive(push)
    case .answered(let id, let action): noteAnswer(id, action)
    case .alertReady(let number): noteReadiness(number)
    case .answersDue: effects = sendAnswers(state.pendingAnswers)
    case .retract(let id):
      if alerts.first?.id == id { forgetFocus() }
      if alerts.contains(where: { $0.id == id }) || state.entries.contains(where: { $0.push.id == id && !$0.isRead }) {
        record(.retracted(id: id))
      }
    case .gap(let dropped): record(.gap(dropped: dropped))
    case .apps(let apps): if apps != state.apps.map(\.app) { record(.apps(apps)) }
    case .preferences(let preferences): if preferences != state.preferences { record(.preferences(preferences)) }
    case .notice(let text): notice = text
    }
    if effects.last != .quit, let alert = markAlertPresented() {
      effects.append(.presented(id: alert, parts: [.alert]))
    }
    if effects.last != .quit {
      let isKey = if case .input(.key) = message { true } else { false }
      effects += attend(hasAnswered: isKey && shown != nil && shown != alerts.first?.ordinal)
    }
    return takeChanges().map { .save($0) } + effects
  }

  /// How long an alert is on screen before keys count for it, and the same for the next of those that the person is just
  /// answering.
  private static let (readinessTime, nextReadinessTime) = (Duration.milliseconds(500), Duration.milliseconds(150))

  /// Notes which alert is in front of the person's eyes. Keys that are on their way then were meant for something else.
  private mutating func attend(hasAnswered: Bool) -> [PhoneEffect] {
    guard isAlertShown, let ordinal = alerts.first?.ordinal else {
      endAttention()
      return []
    }
    if let attention, attention.ordinal == ordinal {
      // The field was left in another way than for the alert.
      guard attention.isElsewhere, !isEditing else { return [] }
    }
    let number = beginAttention(ordinal, isElsewhere: isEditing)
    return [
      .awaitReadiness(number, hasAnswered ? PhoneModel.nextReadinessTime : PhoneModel.readinessTime)
    ]
  }

  private mutating func press(_ key: Key) -> [PhoneEffect] {
    notice = nil
    guard !isHelpShown else {
      isHelpShown = false
      return []
    }
    return command(for: key).map { perform($0) } ?? []
  }

  /// Presents a push: counts, plays, queues. One that is known already does nothing.
  private mutating func receive(_ push: DevicePush) -> [PhoneEffect] {
    guard push.seq == 0 || push.seq > state.lastSeq else { return [] }
    let shown = alerts.first
    record(.received(push))
    if alerts.first?.ordinal != shown?.ordinal { forgetFocus() }
    var effects: [PhoneEffect] = []
    var parts: [Part] = []
    if push.presentation.badge != nil { parts.append(.badge) }
    let urgency = urgency(of: push)
    // The gateway may not have known of the switch yet; a critical alert sounds all the same (S4).
    if let sound = push.presentation.sound, !state.settings.isSilent || urgency == .critical {
      let volume = Double(state.settings.volume) * push.soundVolume
      effects.append(.play(sound: sound.name, volume: Int(volume.rounded()), urgency: urgency))
      parts.append(.sound)
    }
    if let alert = push.presentation.alert {
      if markAlertPresented() == push.id { parts.append(.alert) }
      if state.settings.notices == .always || (state.settings.notices == .unfocused && !hasFocus) {
        effects.append(.notify(app: push.app.name, title: alert.title, body: alert.body))
      }
    }
    if !parts.isEmpty { effects.append(.presented(id: push.id, parts: parts)) }
    return effects
  }

  /// How urgent the sound of a push is: its level if the person allows it for the app, and an alert before a bare sound.
  private func urgency(of push: DevicePush) -> InterruptionLevel {
    let choices = state.preferences.apps[push.topic] ?? AppPreferences()
    switch push.level {
    case .critical where choices.critical: return .critical
    case .timeSensitive where choices.timeSensitive: return .timeSensitive
    default: return push.presentation.alert == nil ? .passive : .active
    }
  }

  /// Notes that the alert on screen is seen, and returns the push's id when that is new.
  private mutating func markAlertPresented() -> String? {
    guard isAlertShown, !alerts[0].isPresented else { return nil }
    record(.presented(ordinal: alerts[0].ordinal))
    return alerts[0].id
  }

  /// The next alert begins as alerts do.
  private mutating func forgetFocus() {
    focusedButton = nil
    if sheet?.purpose == .alert { sheet = nil }
  }

  private mutating func perform(_ command: PhoneCommand) -> [PhoneEffect] {
    switch command {
    case .quit: return quit()
    case .help: isHelpShown = true
    case .attendAlert: turnToAlert()
    case .toggleSilent:
      var settings = state.settings
      settings.isSilent.toggle()
      record(.settings(settings))
      return [.state(silent: settings.isSilent, focus: settings.focus)]
    case .show(let tab): show(tab)
    case .select(let step): select(step)
    case .open: return open()
    case .back: go(.home)
    case .dismissNotice: record(.gapNoted)
    case .focus(let step): moveFocus(step)
    case .press(let button): return sheetInFront == nil ? press(button) : pick(button)
    case .pressFocused: return sheetInFront.map { pick($0.focus) } ?? press(alertFocus)
    case .mark: mark()
    case .read: read()
    case .clear: clear()
    case .clearAll:
      sheet = ActionSheet(
        .clearAll, [AlertChoice(title: "Clear All Notifications", action: "clear", isDestructive: true)])
    case .undo: undoClear()
    case .copy: return selectedPush.map { [.copy($0.copiedText)] } ?? []
    case .openLink: return selectedPush.map { [.openLink($0)] } ?? []
    case .reportAd: return selectedPush.map { [.reportAd($0)] } ?? []
    case .search:
      center.search = center.search ?? ""
      center.isTyping = true
    case .type(let character):
      if let text = settings?.typing {
        settings?.typing = text + String(character)
      } else {
        center.search = (center.search ?? "") + String(character)
      }
    case .erase:
      if let text = settings?.typing {
        settings?.typing = String(text.dropLast())
      } else {
        center.search = center.search.map { String($0.dropLast()) }
      }
    case .endSearch:
      center.isTyping = false
      if center.search?.isEmpty ?? true { center.search = nil }
    case .cancelSearch: (center.isTyping, center.search) = (false, nil)
    case .turn(let step): settings?.turn(step, state)
    case .edit: settings?.edit(state)
    case .endEdit: notice = settings?.endEdit(state)
    case .cancelEdit: settings?.typing = nil
    case .done: return completeSettings()
    case .cancel: cancelSettings()
    }
    return []
  }

  // MARK: Alerts and sheets

  private mutating func moveFocus(_ step: Int) {
    if let sheet = sheetInFront {
      self.sheet?.focus = min(max(sheet.focus + step, 0), sheet.titles.count - 1)
    } else {
      focusedButton = min(max(alertFocus + step, 0), alerts[0].choices.count - 1)
    }
  }

  /// Presses a button of the alert on screen: one dismisses, the other opens the app or its actions (A3, A4, A6).
  private mutating func press(_ button: Int) -> [PhoneEffect] {
    let alert = alerts[0]
    guard alert.choices.indices.contains(button) else { return [] }
    let choice = alert.choices[button]
    if choice.action == AlertChoice.options {
      sheet = ActionSheet(.alert, alert.alert.sheetChoices)
      return []
    }
    return answer(alert, choice.action)
  }

  private mutating func answer(_ alert: QueuedAlert, _ action: String) -> [PhoneEffect] {
    focusedButton = nil
    record(.answered(ordinal: alert.ordinal))
    let pending = PhoneState.PendingAnswer(id: alert.id, action: action)
    record(.pending(pending))
    var effects = sendAnswers([pending])
    if action == "view", state.app(alert.push.topic) != nil {
      settings = nil
      openApp(
        alert.push.topic,
        selected: state.entries(of: alert.push.topic).first?.ordinal == alert.ordinal ? nil : alert.ordinal)
      effects.append(.open(alert.push))
    }
    return effects
  }

  /// Tells the gateway what was answered, if it is there. It is told again until it says that it has it.
  private func sendAnswers(_ answers: [PhoneState.PendingAnswer]) -> [PhoneEffect] {
    guard case .connected = connection else { return [] }
    return answers.map { .answer(id: $0.id, action: $0.action) }
  }

  /// The gateway has an answer to a push: this phone's, or one that came before it.
  private mutating func noteAnswer(_ id: String, _ action: String?) {
    guard let own = state.pendingAnswers.first(where: { $0.id == id }) else { return }
    record(.answerTaken(id: id))
    if let action, action != own.action { notice = "Answered before, on another device: \(action)" }
  }

  /// Picks from the sheet; any choice closes it (X5).
  private mutating func pick(_ index: Int) -> [PhoneEffect] {
    guard let sheet else { return [] }
    self.sheet = nil
    guard sheet.choices.indices.contains(index) else { return [] }
    switch sheet.purpose {
    case .alert: return alerts.isEmpty ? [] : answer(alerts[0], sheet.choices[index].action)
    case .clearAll:
      clear("Clear All", state.entries.map(\.ordinal))
    case .discardSettings: settings = nil
    }
    return []
  }

  /// Leaves. An alert that is on screen is dismissed as with its cancelling button (A7), unless it has only just appeared;
  /// those that wait keep waiting.
  private mutating func quit() -> [PhoneEffect] {
    guard isAlertShown, isAlertReady else { return [.quit] }
    let cancel = alerts[0].choices.first { $0.action == "close" || $0.action == "ok" }
    return answer(alerts[0], cancel?.action ?? "close") + [.quit]
  }

  // MARK: Going and selecting

  private mutating func show(_ tab: PhoneCommand.Tab) {
    switch tab {
    case .home: go(.home)
    case .center: go(.center)
    case .settings: settings = SettingsDraft()
    }
  }

  private mutating func go(_ screen: PhoneState.Screen) {
    var place = state.place
    place.screen = screen
    record(.place(place))
  }

  private mutating func openApp(_ topic: String, selected: Int?) {
    record(.place(PhoneState.Place(screen: .app(topic: topic, selected: selected), selectedTopic: topic)))
    let unread = state.entries(of: topic).filter { !$0.isRead }.map(\.ordinal)
    if !unread.isEmpty { record(.read(unread)) }
  }

  private mutating func open() -> [PhoneEffect] {
    switch screen {
    case .home:
      guard apps.indices.contains(selectedIndex) else { return [] }
      openApp(apps[selectedIndex].app.topic, selected: nil)
    case .center:
      guard let row = centerRow else { return [] }
      switch row.row {
      case .app(let app, _, _): openApp(app.topic, selected: nil)
      case .thread(let topic, _, _): openApp(topic, selected: row.list.members(of: row.row, state).ordinals.first)
      case .entry(let index, let ordinal): openApp(state.entries[index].push.topic, selected: ordinal)
      }
    case .app: break
    }
    return []
  }

  private mutating func select(_ step: PhoneCommand.Step) {
    if settings != nil { return selectSetting(step) }
    switch screen {
    case .home:
      guard !apps.isEmpty else { return }
      let grid = HomeGrid(size: size, apps: apps)
      let target = min(max(selectedIndex + grid.distance(of: step), 0), apps.count - 1)
      var place = state.place
      place.selectedTopic = apps[target].app.topic
      record(.place(place))
    case .center:
      let list = CenterList(state, search: center.search)
      guard !list.rows.isEmpty else { return }
      center.index = step.target(from: list.selectedIndex(center), count: list.rows.count, page: centerPageSize)
      center.selected = list.rows[center.index].key
    case .app(let topic, let selected):
      let entries = state.entries(of: topic)
      guard !entries.isEmpty else { return }
      let current = entries.firstIndex { $0.ordinal == selected } ?? 0
      let target = step.target(from: current, count: entries.count, page: max(size.rows / 4, 1))
      go(.app(topic: topic, selected: target == 0 ? nil : entries[target].ordinal))
    }
  }

  // MARK: The center

  /// The selected row, and the list it stands in.
  private var centerRow: (list: CenterList, row: CenterList.Row)? {
    let list = CenterList(state, search: center.search)
    guard !list.rows.isEmpty else { return nil }
    return (list, list.rows[list.selectedIndex(center)])
  }

  private var selectedPush: DevicePush? {
    switch screen {
    case .home: return nil
    case .app(let topic, let selected):
      let entries = state.entries(of: topic)
      return (entries.first { $0.ordinal == selected } ?? entries.first)?.push
    case .center:
      guard let (list, row) = centerRow, let ordinal = list.members(of: row, state).ordinals.first else { return nil }
      return state.index(of: ordinal).map { state.entries[$0].push }
    }
  }

  private mutating func mark() {
    guard let (list, row) = centerRow else { return }
    let members = Set(list.members(of: row, state).ordinals)
    if members.isSubset(of: center.marked) { center.marked.subtract(members) } else { center.marked.formUnion(members) }
    select(.down)
  }

  private mutating func read() {
    let chosen = chosenEntries()?.ordinals ?? []
    let unread = chosen.filter { ordinal in state.index(of: ordinal).map { !state.entries[$0].isRead } ?? false }
    if !unread.isEmpty { record(.read(unread)) }
    center.marked = []
  }

  private mutating func clear() {
    guard let (title, ordinals) = chosenEntries() else { return }
    clear("Clear \(title)", ordinals)
  }

  /// What is ticked, else what is selected.
  private func chosenEntries() -> (title: String, ordinals: [Int])? {
    if screen == .center, !center.marked.isEmpty {
      let count = center.marked.count
      return (count == 1 ? "1 Notification" : "\(count) Notifications", center.marked.sorted())
    }
    if case .app(let topic, let selected) = screen {
      let entries = state.entries(of: topic)
      guard let entry = entries.first(where: { $0.ordinal == selected }) ?? entries.first else { return nil }
      return ("“\(TextLayout.truncated(entry.push.summary.headline, columns: 24))”", [entry.ordinal])
    }
    return centerRow.map { $0.list.members(of: $0.row, state) }
  }

  private mutating func clear(_ title: String, _ ordinals: [Int]) {
    let gone = Set(ordinals)
    let entries = state.entries.filter { gone.contains($0.ordinal) }
    guard !entries.isEmpty else { return }
    record(.cleared(entries.map(\.ordinal)))
    undo = Undo(title: title, entries: entries)
    center.marked.subtract(gone)
    if case .app(let topic, let selected?) = screen, gone.contains(selected) { go(.app(topic: topic, selected: nil)) }
    notice = "\(title.replacing("Clear", with: "Cleared")) · u undoes it"
  }

  private mutating func undoClear() {
    guard let undo else { return }
    record(.restored(undo.entries))
    notice = "Undid \(undo.title)"
    self.undo = nil
  }

  // MARK: The settings

  private mutating func selectSetting(_ step: PhoneCommand.Step) {
    let count = SettingsTable.groups(state).reduce(0) { $0 + $1.rows.count }
    let selected = settings?.selected ?? 0
    settings?.selected = step.target(from: selected, count: count, page: max(size.rows - 6, 1))
  }

  /// Done: what belongs to this device holds at once, the rest when the gateway says so.
  private mutating func completeSettings() -> [PhoneEffect] {
    guard let draft = settings else { return [] }
    if !draft.requests.isEmpty {
      guard case .connected = connection else {
        notice = "Not connected: the choices can't be saved now"
        return []
      }
    }
    settings = nil
    var effects: [PhoneEffect] = draft.requests.map { .change($0) }
    let chosen = draft.settings(from: state.settings)
    if chosen != state.settings {
      if chosen.isSilent != state.settings.isSilent || chosen.focus != state.settings.focus {
        effects.append(.state(silent: chosen.isSilent, focus: chosen.focus))
      }
      record(.settings(chosen))
    }
    return effects
  }

  /// Cancel: what would be lost is said first (M5).
  private mutating func cancelSettings() {
    guard let draft = settings, !draft.changes.isEmpty else {
      settings = nil
      return
    }
    let title = draft.changes.count == 1 ? "Discard 1 Change" : "Discard \(draft.changes.count) Changes"
    sheet = ActionSheet(.discardSettings, [AlertChoice(title: title, action: "discard", isDestructive: true)])
  }
}

extension PhoneCommand.Step {
  /// Where it leads in a list.
  func target(from index: Int, count: Int, page: Int) -> Int {
    let target =
      switch self {
      case .up, .left: index - 1
      case .down, .right: index + 1
      case .pageUp: index - page
      case .pageDown: index + page
      case .first: 0
      case .last: count - 1
      }
    return min(max(target, 0), max(count - 1, 0))
  }
}

extension DevicePush {
  /// Its texts, for the clipboard.
  fileprivate var copiedText: String {
    presentation.listed != nil ? [text, link ?? ""].filter { !$0.isEmpty }.joined(separator: "\n") : text
  }
}
