import GatewayProtocol
import PushPolicy

extension PhoneModel {
  /// Continues with the history as other screens have changed it.
  mutating func takeHistory(_ history: PhoneState?, _ count: Int) -> [PhoneEffect] {
    let (shown, before) = (alerts.first?.ordinal, state.settings)
    noteStored(count, history)
    if alerts.first?.ordinal != shown { forgetFocus() }
    let settings = state.settings
    var effects: [PhoneEffect] = []
    if (settings.isSilent, settings.focus) != (before.isSilent, before.focus) {
      effects.append(.state(silent: settings.isSilent, focus: settings.focus))
    }
    if settings.usesMouse != before.usesMouse { effects.append(.mouse(settings.usesMouse)) }
    return effects
  }

  /// Presents a push: updates the badge, plays the sound and queues the alert.
  mutating func receive(_ push: DevicePush) -> [PhoneEffect] {
    let shown = alerts.first
    take(in: .received(push))
    if alerts.first?.ordinal != shown?.ordinal { forgetFocus() }
    var effects: [PhoneEffect] = []
    var parts: [Part] = []
    if push.presentation.badge != nil { parts.append(.badge) }
    if let sound = sound(of: push) {
      effects.append(sound)
      parts.append(.sound)
    }
    if let alert = push.presentation.alert {
      if markAlertsPresented().contains(push.id) { parts.append(.alert) }
      effects += notices(of: alert, push)
    }
    if push.presentation.held?.by == .budget {
      notice = "\(push.app.name) has used up its alerts: more of them are kept in the center"
    }
    if !parts.isEmpty { effects.append(.presented(id: push.id, parts: parts)) }
    return effects
  }

  /// Returns the sound of a push; nil if it has none, or the switch is set to silent. The gateway may not have received
  /// the state of the switch yet. A critical alert sounds in silent mode too (S4).
  func sound(of push: DevicePush) -> PhoneEffect? {
    let urgency = urgency(of: push)
    guard let sound = push.presentation.sound, !state.settings.isSilent || urgency == .critical else { return nil }
    let volume = Double(state.settings.volume) * push.soundVolume
    return .play(sound: sound, volume: Int(volume.rounded()), urgency: urgency)
  }

  /// Returns the notification outside of this screen, if the settings request one now.
  func notices(of alert: AlertPresentation, _ push: DevicePush) -> [PhoneEffect] {
    guard state.settings.notices == .always || (state.settings.notices == .unfocused && !hasFocus) else { return [] }
    return [.notify(app: push.app.name, title: alert.title, body: alert.body)]
  }

  /// Returns the urgency of the sound of a push: its level if the user allows it for the app. An alert precedes a
  /// mere sound.
  private func urgency(of push: DevicePush) -> InterruptionLevel {
    let choices = state.preferences.apps[push.topic] ?? AppPreferences()
    switch push.level {
    case .critical where choices.critical: return .critical
    case .timeSensitive where choices.timeSensitive: return .timeSensitive
    default: return push.presentation.alert == nil ? .passive : .active
    }
  }
}
