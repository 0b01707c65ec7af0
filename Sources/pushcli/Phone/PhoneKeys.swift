import TerminalUI

/// What a key or a click does to the phone.
enum PhoneCommand: Sendable, Hashable {
  /// A part that a click does nothing to.
  case nothing
  case quit
  case help
  case toggleSilent
  case toggleMouse
  /// Connects now, not when it is time.
  case retry
  /// Turns from a field to the alert that appeared meanwhile.
  case attendAlert
  case show(Tab)
  /// Moves the selection.
  case select(Step)
  /// Selects a row.
  case choose(CenterKey)
  /// Moves the text that is too long for its place.
  case scroll(Step)
  /// Moves to the next app of a list, or to the one before.
  case jump(Int)
  case open
  case back
  case dismissNotice
  /// Moves the focus by this many buttons.
  case focus(Int)
  /// Presses the alert's or the sheet's button at this place.
  case press(Int)
  case pressFocused
  /// Asks which of the waiting alerts to close.
  case closeAlerts
  /// Leaves the alert for the home screen (A7).
  case leaveAlert
  // The center and an app's screen
  case mark, read, clear, clearAll, undo, redo, copy, openLink, reportAd, foldPayload
  case search
  case setScope(CenterScope)
  case turnScope(Int)
  case type(Character)
  case erase, endSearch, cancelSearch
  // The settings
  case turn(Int)
  case chooseSetting(Int)
  case edit, endEdit, cancelEdit
  case done, cancel
  // A push that is being written
  case compose
  case chooseField(Int)
  case nextField(Int)
  case nextApp(Int)
  case send, cancelDraft

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
  /// Whether what happens is never cut short (L5).
  var isWhole = false

  init(_ label: String, _ help: String, _ commands: [Key: PhoneCommand]) {
    self.label = label
    self.help = help
    self.commands = commands
  }

  /// What a click on it does, where its keys do one thing.
  var click: PhoneCommand? {
    let all = Set(commands.values)
    return all.count == 1 ? all.first : nil
  }

  /// Whether it leads to a tab, which says so itself where it is shown.
  var isTab: Bool { commands.values.contains { if case .show = $0 { true } else { false } } }

  /// Keys that do the same.
  init(_ label: String, _ help: String, _ command: PhoneCommand, keys: [Key]) {
    self.init(label, help, Dictionary(uniqueKeysWithValues: keys.map { ($0, command) }))
  }
}
