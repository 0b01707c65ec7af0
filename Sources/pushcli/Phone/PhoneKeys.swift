import TerminalUI

/// What a key does to the phone.
enum PhoneCommand: Sendable, Hashable {
  case quit
  case help
  case toggleSilent
  /// Turns from a field to the alert that appeared meanwhile.
  case attendAlert
  case show(Tab)
  /// Moves the selection.
  case select(Step)
  case open
  case back
  case dismissNotice
  /// Moves the focus by this many buttons.
  case focus(Int)
  /// Presses the alert's or the sheet's button at this place.
  case press(Int)
  case pressFocused
  // The center and an app's screen
  case mark, read, clear, clearAll, undo, copy, openLink, reportAd
  case search
  case type(Character)
  case erase, endSearch, cancelSearch
  // The settings
  case turn(Int)
  case edit, endEdit, cancelEdit
  case done, cancel

  enum Step: Sendable, Hashable { case up, down, left, right, pageUp, pageDown, first, last }

  /// What the tabs lead to.
  enum Tab: Int, Sendable, Hashable, CaseIterable {
    case home = 1
    case center
    case settings
  }
}

/// Keys that do one thing, or a few like things, and how the help tells them.
struct KeyBinding: Sendable {
  /// What to press, as the help shows it.
  var label: String
  /// What happens, in a word or two.
  var help: String
  var commands: [Key: PhoneCommand]

  init(_ label: String, _ help: String, _ commands: [Key: PhoneCommand]) {
    self.label = label
    self.help = help
    self.commands = commands
  }

  /// Whether it leads to a tab, which says so itself where it is shown.
  var isTab: Bool { commands.values.contains { if case .show = $0 { true } else { false } } }

  /// Keys that do the same.
  init(_ label: String, _ help: String, _ command: PhoneCommand, keys: [Key]) {
    self.init(label, help, Dictionary(uniqueKeysWithValues: keys.map { ($0, command) }))
  }
}

extension PhoneModel {
  /// What the keys do now, most important first: the one table for matching and for the help.
  var keyBindings: [KeyBinding] {
    let quit = KeyBinding("q", "quit", .quit, keys: [.character("q"), .control("c"), .control("d")])
    let help = KeyBinding("?", "keys", .help, keys: [.character("?")])
    guard size.holdsPhone else { return [quit] }
    let leave = KeyBinding("^C", "quit", .quit, keys: [.control("c"), .control("d")])
    if let sheet = sheetInFront { return Self.sheetBindings(sheet) + [leave, help] }
    let toAlert = isElsewhere ? [KeyBinding("esc", "alert", .attendAlert, keys: [.escape, .tab])] : []
    if let alert = alerts.first, !isElsewhere { return Self.alertBindings(alert.choices) + [leave, help] }
    if let settings { return settings.typing == nil ? Self.settingsBindings + [help] : toAlert + Self.editBindings }
    if center.isTyping, screen == .center { return toAlert + Self.searchBindings }
    let noted = droppedCount > 0 ? [KeyBinding("n", "noted", .dismissNotice, keys: [.character("n")])] : []
    let common = [
      KeyBinding("s", state.settings.isSilent ? "ring" : "silent", .toggleSilent, keys: [.character("s")]),
      KeyBinding("1", "home", [.character("1"): .show(.home), .tab: .show(screen == .home ? .center : .home)]),
      KeyBinding("2", "center", .show(.center), keys: [.character("2")]),
      KeyBinding("3", "settings", .show(.settings), keys: [.character("3")]), quit, help,
    ]
    let report =
      state.entries.contains { $0.isAlert } ? [KeyBinding("a", "report ad", .reportAd, keys: [.character("a")])] : []
    let list = [Self.arrows("↑↓", "select", all: false)] + report
    switch screen {
    case .home:
      let open = KeyBinding("↵", "open", .open, keys: [.return, .character(" ")])
      return noted + (apps.isEmpty ? common : [open] + common + [Self.arrows("←↑↓→", "select", all: true)])
    case .center: return noted + centerBindings + common + list
    case .app: return appBindings + noted + common + list
    }
  }

  var droppedCount: Int { state.droppedCount }

  /// Whether an alert is on screen, and keys are for the field that was being edited when it appeared.
  private var isElsewhere: Bool { isEditing && attention?.isElsewhere ?? false }

  /// What `key` does now; nothing but leaving while an alert has only just appeared.
  func command(for key: Key) -> PhoneCommand? {
    let isTooSoon = isAlertShown && !isElsewhere && attention?.isReady != true
    for binding in keyBindings {
      if let command = binding.commands[key] { return isTooSoon && command != .quit ? nil : command }
    }
    if isEditing, alerts.isEmpty || isElsewhere, sheet == nil, case .character(let character) = key {
      return .type(character)
    }
    return nil
  }

  private static func arrows(_ label: String, _ help: String, all: Bool) -> KeyBinding {
    var keys: [Key: PhoneCommand] = [
      .up: .select(.up), .down: .select(.down), .pageUp: .select(.pageUp), .pageDown: .select(.pageDown),
      .home: .select(.first), .end: .select(.last),
    ]
    if all { keys.merge([.left: .select(.left), .right: .select(.right)]) { $1 } }
    return KeyBinding(label, help, keys)
  }

  private var undoBinding: [KeyBinding] {
    undo.map { [KeyBinding("u", "Undo \($0.title)", .undo, keys: [.character("u")])] } ?? []
  }

  private var centerBindings: [KeyBinding] {
    let search = KeyBinding("/", "search", .search, keys: [.character("/")])
    let list = [
      KeyBinding("↵", "open", .open, keys: [.return]),
      KeyBinding("d", "clear", .clear, keys: [.character("d"), .delete]),
      KeyBinding("r", "read", .read, keys: [.character("r")]), search,
      KeyBinding("␣", "tick", .mark, keys: [.character(" ")]),
      KeyBinding("D", "clear all", .clearAll, keys: [.character("D")]),
      KeyBinding("y", "copy", .copy, keys: [.character("y")]),
    ]
    let leave: [KeyBinding] =
      center.search != nil
      ? [KeyBinding("esc", "all", .cancelSearch, keys: [.escape])]
      : [KeyBinding("esc", "home", .back, keys: [.escape, .backspace])]
    return undoBinding + (state.entries.contains { $0.isAlert } ? list : [search]) + leave
  }

  private var appBindings: [KeyBinding] {
    [
      KeyBinding("esc", "back", .back, keys: [.escape, .backspace]),
      KeyBinding("o", "open link", .openLink, keys: [.character("o")]),
    ] + undoBinding + [
      KeyBinding("d", "clear", .clear, keys: [.character("d"), .delete]),
      KeyBinding("y", "copy", .copy, keys: [.character("y")]),
    ]
  }

  private static let searchBindings = [
    KeyBinding("↵", "search", .endSearch, keys: [.return, .down]),
    KeyBinding("esc", "all", .cancelSearch, keys: [.escape, .control("c")]),
    KeyBinding("⌫", "erase", .erase, keys: [.backspace]),
  ]

  private static let settingsBindings = [
    KeyBinding("d", "Done", .done, keys: [.character("d")]),
    KeyBinding("esc", "Cancel", .cancel, keys: [.escape, .character("c"), .character("q"), .control("c")]),
    KeyBinding("␣", "change", [.character(" "): .turn(1), .return: .turn(1), .right: .turn(1), .left: .turn(-1)]),
    KeyBinding("e", "edit", .edit, keys: [.character("e")]),
    arrows("↑↓", "select", all: false),
  ]

  private static let editBindings = [
    KeyBinding("↵", "take", .endEdit, keys: [.return]),
    KeyBinding("esc", "as it was", .cancelEdit, keys: [.escape, .control("c")]),
    KeyBinding("⌫", "erase", .erase, keys: [.backspace]),
  ]

  private static func sheetBindings(_ sheet: ActionSheet) -> [KeyBinding] {
    [
      KeyBinding("↵", "pick", .pressFocused, keys: [.return, .character(" ")]),
      KeyBinding("esc", sheet.titles.last ?? "", .press(sheet.choices.count), keys: [.escape, .character("c")]),
      KeyBinding(
        "↑↓", "select", [.up: .focus(-1), .down: .focus(1), .tab: .focus(1), .backTab: .focus(-1)]),
      KeyBinding(
        "1–\(sheet.titles.count)", "pick",
        Dictionary(
          uniqueKeysWithValues: sheet.titles.indices.map { (Key.character(Character(String($0 + 1))), .press($0)) })),
    ]
  }

  private static func alertBindings(_ choices: [AlertChoice]) -> [KeyBinding] {
    if choices.count == 1 {
      let keys: [Key] = [.return, .escape, .character("o"), .character("c"), .character(" ")]
      return [KeyBinding("o", choices[0].title, .press(0), keys: keys)]
    }
    let cancel = choices.firstIndex { $0.action == "close" } ?? 0
    return [
      KeyBinding("c", choices[cancel].title, .press(cancel), keys: [.character("c"), .escape]),
      KeyBinding("v", choices[1 - cancel].title, .press(1 - cancel), keys: [.character("v")]),
      KeyBinding("↵", "press", .pressFocused, keys: [.return]),
      KeyBinding("←→", "focus", [.left: .focus(-1), .right: .focus(1), .tab: .focus(1), .backTab: .focus(-1)]),
    ]
  }
}
