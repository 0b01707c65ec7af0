/// What a key does to the phone.
enum PhoneCommand: Sendable, Hashable {
  case quit
  case toggleSilent
  /// Moves the selection.
  case select(Step)
  case open
  case back
  case dismissNotice
  /// Moves the focus by this many buttons.
  case focus(Int)
  /// Presses the alert's button at this place.
  case press(Int)
  case pressFocused

  enum Step: Sendable, Hashable { case up, down, left, right }
}

/// Keys that do one thing, or a few like things, and how the help line tells them.
struct KeyBinding: Sendable {
  /// What to press, as the help line shows it.
  var label: String
  /// What happens, in a word or two.
  var help: String
  var commands: [Key: PhoneCommand]

  init(_ label: String, _ help: String, _ commands: [Key: PhoneCommand]) {
    self.label = label
    self.help = help
    self.commands = commands
  }

  /// Keys that do the same.
  init(_ label: String, _ help: String, _ command: PhoneCommand, keys: [Key]) {
    self.init(label, help, Dictionary(uniqueKeysWithValues: keys.map { ($0, command) }))
  }
}

extension PhoneModel {
  /// What the keys do now, most important first: the one table for matching and for the help line.
  var keyBindings: [KeyBinding] {
    let quit = KeyBinding("q", "quit", .quit, keys: [.character("q"), .control("c"), .control("d")])
    guard size.holdsPhone else { return [quit] }
    if let alert = alerts.first { return Self.alertBindings(alert.buttons, quit: quit) }

    let silent = KeyBinding("s", isSilent ? "ring" : "silent", .toggleSilent, keys: [.character("s")])
    switch screen {
    case .home:
      let notice = KeyBinding("esc", "noted", .dismissNotice, keys: [.escape])
      let open = KeyBinding("↵", "open", .open, keys: [.return, .character(" ")])
      let arrows: [Key: PhoneCommand] = [
        .up: .select(.up), .down: .select(.down), .left: .select(.left), .right: .select(.right),
      ]
      return (droppedCount > 0 ? [notice] : [])
        + (apps.isEmpty ? [silent, quit] : [open, silent, quit, KeyBinding("←↑↓→", "select", arrows)])
    case .app:
      return [
        KeyBinding("esc", "home", .back, keys: [.escape, .backspace]),
        silent,
        quit,
        KeyBinding("↑↓", "select", [.up: .select(.up), .down: .select(.down)]),
      ]
    }
  }

  /// What `key` does now.
  func command(for key: Key) -> PhoneCommand? {
    for binding in keyBindings {
      if let command = binding.commands[key] { return command }
    }
    return nil
  }

  private static func alertBindings(_ buttons: [String], quit: KeyBinding) -> [KeyBinding] {
    if buttons.count == 1 {
      let keys: [Key] = [.return, .escape, .character("o"), .character("c"), .character(" ")]
      return [KeyBinding("o", buttons[0], .press(0), keys: keys), quit]
    }
    return [
      KeyBinding("c", buttons[0], .press(0), keys: [.character("c"), .escape]),
      KeyBinding("v", buttons[1], .press(1), keys: [.character("v")]),
      quit,
      KeyBinding("↵", "press", .pressFocused, keys: [.return]),
      KeyBinding("←→", "focus", [.left: .focus(-1), .right: .focus(1), .tab: .focus(1), .backTab: .focus(-1)]),
    ]
  }
}
