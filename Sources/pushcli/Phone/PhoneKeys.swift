import TerminalUI

/// The command of a key or a click.
enum PhoneCommand: Sendable, Hashable {
  /// Marks a part on which a click has no effect.
  case nothing
  case quit
  case help
  case toggleSilent
  case toggleMouse
  /// Connects now instead of at the scheduled time.
  case retry
  /// Changes from a field to the alert that appeared during the input.
  case attendAlert
  case show(Tab)
  /// Moves the selection.
  case select(Step)
  /// Selects a row.
  case choose(CenterKey)
  /// Scrolls a text that is too long for its area.
  case scroll(Step)
  /// Moves to the next or the previous app of a list.
  case jump(Int)
  case open
  case back
  case dismissNotice
  /// Moves the focus by this number of buttons.
  case focus(Int)
  /// Presses the button at this index of the alert or the sheet.
  case press(Int)
  case pressFocused
  /// Opens a sheet for closing several queued alerts.
  case closeAlerts
  /// Opens a sheet with the times at which the alert, or the selected entry, is shown again.
  case snooze
  /// Opens a sheet that ends the marketing of the app of the alert, or of the selected entry.
  case unsubscribe
  /// Opens a sheet with the permissions for the new category of the selected entry.
  case permitCategory
  /// Leaves the alert for the home screen (A7).
  case leaveAlert
  // The center and an app's screen
  case mark, read, clear, clearAll, undo, redo, copy, openLink, saveAttachment, reportAd, foldPayload
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

  /// The destinations of the tabs.
  enum Tab: Int, Sendable, Hashable, CaseIterable {
    case home = 1
    case center
    case settings
  }
}

/// One or more keys with the same or a similar command, and their text in the help.
struct KeyBinding: Sendable {
  /// The keys, as the help shows them.
  var label: String
  /// The effect, in one or two words.
  var help: String
  var commands: [Key: PhoneCommand]
  /// True if the text of the effect is never truncated (L5).
  var isWhole = false

  init(_ label: String, _ help: String, _ commands: [Key: PhoneCommand]) {
    self.label = label
    self.help = help
    self.commands = commands
  }

  /// The command of a click on the binding; nil if its keys have different commands.
  var click: PhoneCommand? {
    let all = Set(commands.values)
    return all.count == 1 ? all.first : nil
  }

  /// True if the binding leads to a tab, which shows the key itself where tabs are visible.
  var isTab: Bool { commands.values.contains { if case .show = $0 { true } else { false } } }

  /// Creates a binding for keys with the same command.
  init(_ label: String, _ help: String, _ command: PhoneCommand, keys: [Key]) {
    self.init(label, help, Dictionary(uniqueKeysWithValues: keys.map { ($0, command) }))
  }
}
