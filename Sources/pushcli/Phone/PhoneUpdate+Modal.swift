import GatewayProtocol
import PushPolicy
import TerminalUI

/// The modal views: the settings, and a push that is being written (M1).
extension PhoneModel {
  // MARK: The settings

  mutating func selectSetting(_ step: PhoneCommand.Step) {
    let count = SettingsGroup.groups(state).reduce(0) { $0 + $1.rows.count }
    let selected = settings?.selected ?? 0
    settings?.selected = step.target(from: selected, count: count, page: max(size.rows - 6, 1))
  }

  /// Selects the clicked row; a second click changes its value.
  mutating func chooseSetting(_ index: Int) {
    guard settings?.typing == nil else { return }
    if settings?.selected == index { settings?.turn(1, state) } else { settings?.selected = index }
  }

  /// Completes the settings. Settings of this device apply at once, preferences when the gateway confirms them.
  mutating func completeSettings() -> [PhoneEffect] {
    guard let draft = settings else { return [] }
    if !draft.requests.isEmpty {
      guard case .connected = connection else {
        notice = "Not connected: the preferences can't be saved now"
        return []
      }
      activities.insert(.saving)
    }
    settings = nil
    var effects: [PhoneEffect] = draft.requests.map { .change($0) }
    let chosen = draft.settings(from: state.settings)
    if chosen != state.settings {
      if chosen.isSilent != state.settings.isSilent || chosen.focus != state.settings.focus {
        effects.append(.state(silent: chosen.isSilent, focus: chosen.focus))
      }
      if chosen.usesMouse != state.settings.usesMouse { effects.append(.mouse(chosen.usesMouse)) }
      record(.settings(chosen))
    }
    return effects
  }

  /// Closes the settings; unsaved changes require a confirmation (M5).
  mutating func cancelSettings() {
    guard let draft = settings, !draft.changes.isEmpty else {
      settings = nil
      return
    }
    let title = draft.changes.count == 1 ? "Discard 1 Change" : "Discard \(draft.changes.count) Changes"
    sheet = ActionSheet(.discardSettings, [AlertAction(id: "discard", title: title, isDestructive: true)])
  }

  // MARK: A push that is being written

  /// Begins a push for the selected app.
  mutating func beginDraft() {
    let shown: String? = if case .app(let topic, _) = screen { topic } else { nil }
    let selected = apps.indices.contains(selectedIndex) ? apps[selectedIndex].app.topic : nil
    guard canCompose, let topic = shown ?? selectedEntry?.push.topic ?? selected else { return }
    draft = PushDraft(topic: state.app(topic) == nil ? selected ?? topic : topic, device: device)
  }

  mutating func sendDraft() -> [PhoneEffect] {
    guard let draft, !draft.isSending else { return [] }
    if let problem = draft.problem {
      notice = problem
      return []
    }
    self.draft?.isSending = true
    activities.insert(.sending)
    return [.send(draft)]
  }

  /// Cancels the push; a written text requires a confirmation (M5).
  mutating func cancelDraft() {
    guard let draft, !draft.isEmpty else {
      self.draft = nil
      return
    }
    sheet = ActionSheet(.discardDraft, [AlertAction(id: "discard", title: "Discard Push", isDestructive: true)])
  }
}
