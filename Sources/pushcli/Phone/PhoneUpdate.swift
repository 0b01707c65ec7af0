import Foundation
import PushPolicy

extension PhoneModel {
  /// Lets `message` happen at `now` and returns what is to be done about it.
  mutating func update(_ message: PhoneMessage, now: Date) -> [PhoneEffect] {
    self.now = now
    var effects: [PhoneEffect] = []
    switch message {
    case .key(let key):
      if let command = command(for: key) { effects = perform(command) }
    case .resized(let size): self.size = size
    case .connection(let connection): self.connection = connection
    case .push(let push): effects = receive(push)
    case .retract(let id):
      if removeAlert(id: id) { effects = [.save] }
    case .gap(let dropped):
      droppedCount += dropped
      effects = [.save]
    case .apps(let apps):
      install(apps)
      effects = [.save]
    case .tick: break
    case .terminate: effects = quit()
    }
    if effects.last != .quit, let id = markAlertPresented() {
      if !effects.contains(.save) { effects.append(.save) }
      effects.append(.presented(id: id, parts: [.alert]))
    }
    return effects
  }

  /// Presents a push: counts, plays, queues. One that is known already does nothing.
  private mutating func receive(_ push: PhonePush) -> [PhoneEffect] {
    if push.seq != 0 {
      guard push.seq > lastSeq else { return [] }
      lastSeq = push.seq
    }
    var effects: [PhoneEffect] = [.save]
    var parts: [Part] = []
    change(push.app) { installed in
      installed.app = push.app
      installed.badge = push.presentation.badge ?? installed.badge
      installed.recent.insert(push, at: 0)
      if installed.recent.count > InstalledApp.maximumRecent { installed.recent.removeLast() }
    }
    if push.presentation.badge != nil { parts.append(.badge) }
    if let sound = push.presentation.sound, !isSilent {
      effects.append(.play(sound: sound.name))
      parts.append(.sound)
    }
    if let alert = push.presentation.alert {
      enqueue(QueuedAlert(id: push.id, app: push.app, received: push.received, alert: alert))
      if alerts.count == 1, markAlertPresented() != nil { parts.append(.alert) }
    }
    if !parts.isEmpty { effects.append(.presented(id: push.id, parts: parts)) }
    return effects
  }

  private mutating func perform(_ command: PhoneCommand) -> [PhoneEffect] {
    switch command {
    case .quit: return quit()
    case .toggleSilent:
      isSilent.toggle()
      return [.save, .state(silent: isSilent)]
    case .select(let step):
      return select(step)
    case .open:
      guard apps.indices.contains(selectedIndex) else { return [] }
      open(apps[selectedIndex].app.topic)
    case .back: screen = .home
    case .dismissNotice: droppedCount = 0
    case .focus(let step):
      let count = alerts[0].buttons.count
      focusedButton = ((focusedButton ?? count - 1) + step + count) % count
      return []
    case .press(let button): return press(button)
    case .pressFocused: return press(focusedButton ?? alerts[0].buttons.count - 1)
    }
    return [.save]
  }

  /// Presses a button of the alert on screen: the left or only one dismisses, the right one opens the app (A3, A4).
  private mutating func press(_ button: Int) -> [PhoneEffect] {
    let alert = dismissAlert()
    if button > 0, app(alert.app.topic) != nil { open(alert.app.topic) }
    return [.save, .answer(id: alert.id, action: alert.action(of: button))]
  }

  /// Leaves. An alert that is on screen is dismissed as with its cancelling button (A7); those that wait keep waiting.
  private mutating func quit() -> [PhoneEffect] {
    guard isAlertShown else { return [.save, .quit] }
    let alert = dismissAlert()
    return [.save, .answer(id: alert.id, action: alert.action(of: 0)), .quit]
  }

  private mutating func open(_ topic: String) {
    screen = .app(topic: topic, selectedID: nil)
    selectedTopic = topic
    if let app = app(topic)?.app { change(app) { $0.unreadCount = 0 } }
  }

  private mutating func select(_ step: PhoneCommand.Step) -> [PhoneEffect] {
    switch screen {
    case .home:
      guard !apps.isEmpty else { return [] }
      let distance = HomeGrid(size: size, apps: apps).distance(of: step)
      selectedTopic = apps[min(max(selectedIndex + distance, 0), apps.count - 1)].app.topic
    case .app(let topic, let selectedID):
      guard let recent = app(topic)?.recent, !recent.isEmpty else { return [] }
      let current = recent.firstIndex { $0.id == selectedID } ?? 0
      let target = min(max(current + (step == .up ? -1 : 1), 0), recent.count - 1)
      screen = .app(topic: topic, selectedID: target == 0 ? nil : recent[target].id)
    }
    return [.save]
  }
}

extension QueuedAlert {
  /// The answer that the button at this place gives.
  fileprivate func action(of button: Int) -> String {
    if buttons.count == 1 { return "ok" }
    return button == 0 ? "close" : "view"
  }
}
