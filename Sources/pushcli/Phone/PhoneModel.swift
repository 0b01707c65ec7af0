import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

/// The simulated phone as one value, with its persistent and its temporary state.
struct PhoneModel: Sendable, Equatable {
  /// The name of this device.
  var device: String
  /// The persistent state. It is changed only by ``record(_:)``, so that each change is saved, and by saved changes.
  private(set) var state: PhoneState

  var connection = PhoneConnection.connecting
  /// The time of the last message.
  var now = Date(timeIntervalSince1970: 0)
  var size = Size(columns: 80, rows: 24)
  /// True if the terminal has the focus; updated only by terminals that report it (mode 1004).
  var hasFocus = true
  /// The index of the alert's button that Return presses; `nil` selects the preferred one (D1, D2).
  var focusedButton: Int?
  /// The state that decides if keys apply to the alert on screen; `nil` while there is none.
  var attention: Attention?
  var attentionCount = 0
  /// The first visible line of the alert on screen.
  var alertOffset = 0
  /// The action sheet, which covers everything except an alert (M3).
  var sheet: ActionSheet?
  /// The settings while they are open (M1).
  var settings: SettingsDraft?
  /// The push that is being written (M1).
  var draft: PushDraft?
  /// True if a sender's key is available for sending pushes.
  var canCompose = false
  var center = CenterPosition()
  /// The cached rows of the center, valid until a change.
  var centerMemo = RowCache()
  /// The reading state of the message on an app's screen.
  var reading = Reading()
  /// The cleared entries that `u` restores, and the restored ones that `U` clears again (L5).
  var undo, redo: Undo?
  var isHelpShown = false
  /// The first visible line of the help.
  var helpOffset = 0
  /// The operations in progress, and the position of the progress indicator (L6).
  var activities: Set<PhoneActivity> = []
  var activityPhase = 0
  /// True while an advance of the progress indicator is scheduled.
  var isTurning = false
  /// A message for the user in one line, shown until a key is pressed.
  var notice: String?
  /// The drawing capabilities of the terminal.
  var form = TerminalCapabilities.full
  /// The appearance of the terminal's background, and the appearance that the user requested instead.
  var background = Appearance.dark
  var requestedAppearance: Appearance?
  /// The time at which the terminal got the focus. A click that gave it the focus has no other effect.
  var focusedAt: Date?
  /// The time zone of all times on screen.
  var timeZone = TimeZone.current
  /// The changes of this screen that were not yet returned for saving.
  private var changes: [PhoneChange] = []
  /// The changes of this screen that may not be in the history yet, and the number of confirmed changes.
  private(set) var unconfirmed: [PhoneChange] = []
  private var confirmedCount = 0

  /// Entries that were cleared, with a title for the action.
  struct Undo: Sendable, Equatable {
    /// The title of the action, such as `Clear News`.
    var title: String
    var entries: [PhoneState.Entry]
  }

  init(device: String, state: PhoneState = PhoneState()) {
    self.device = device
    self.state = state
  }

  /// Changes the persistent state and records the change for saving.
  mutating func record(_ change: PhoneChange) {
    take(in: change)
    changes.append(change)
    unconfirmed.append(change)
  }

  /// Applies a change that is already in the history.
  mutating func take(in change: PhoneChange) {
    state.apply(change)
    if change.concernsCenter { centerMemo.forget() }
  }

  /// Records that the first `count` changes of this screen are in the history.
  ///
  /// - Parameter history: The history including these changes, if other screens have changed it. Each screen keeps
  ///   its own current screen and selection.
  mutating func noteStored(_ count: Int, _ history: PhoneState?) {
    unconfirmed.removeFirst(min(max(count - confirmedCount, 0), unconfirmed.count))
    confirmedCount = max(count, confirmedCount)
    guard let history else { return }
    let place = state.place
    state = history
    for change in unconfirmed { state.apply(change) }
    state.apply(.place(place))
    if case .app(let topic, _) = place.screen, state.app(topic) == nil { state.place.screen = .home }
    centerMemo.forget()
    if !center.marked.isEmpty { center.marked.formIntersection(state.entries.map(\.ordinal)) }
  }

  /// Returns the changes since the last call, in order.
  mutating func takeChanges() -> [PhoneChange] {
    defer { changes = [] }
    return changes
  }

  var alerts: [QueuedAlert] { state.alerts }
  var apps: [InstalledApp] { state.apps }
  var screen: PhoneState.Screen { state.place.screen }

  /// The sheet that keys apply to. A sheet that an alert covers is deferred until the alert is answered.
  var sheetInFront: ActionSheet? { sheet.flatMap { $0.purpose.isOfAlert || !isAlertShown ? $0 : nil } }

  /// True while text is being typed into a field.
  var isEditing: Bool {
    draft?.isTyping ?? settings.map { $0.typing != nil } ?? (center.isTyping && screen == .center)
  }

  var palette: Palette {
    if form.colors < 256 { return .basic }
    return (requestedAppearance ?? state.settings.appearance ?? background) == .light ? .light : .dark
  }

  /// Returns the title of an app in headers, with its icon if the terminal can draw it.
  func title(of app: DeviceApp) -> String {
    app.icon.isEmpty || form.drawing == .ascii ? app.name : app.icon + " " + app.name
  }

  /// The row after the last content row.
  var contentEnd: Int { size.contentEnd - bar.count }

  /// The undo and redo texts, in separate lines if the last row is too short for both (L5).
  var bar: [String] {
    let titles = isAlertShown || settings != nil || draft != nil ? [] : undoTitles.map { "\($0.key) \($0.title)" }
    // The last row also needs space for the binding of the help.
    guard DisplayWidth.of(titles.joined(separator: "   ")) > size.columns - 10 else { return [] }
    return titles.flatMap { TextLayout.wrapped($0, columns: max(size.columns - 2, 1)) }
  }

  /// The available undo and redo actions, with their keys.
  var undoTitles: [(key: Character, title: String)] {
    guard screen != .home else { return [] }
    return (undo.map { [("u", "Undo \($0.title)")] } ?? []) + (redo.map { [("U", "Redo \($0.title)")] } ?? [])
  }

  /// The group of alerts on screen.
  var group: AlertGroup? { AlertGroup(alerts) }

  /// True if an alert is on screen.
  var isAlertShown: Bool { !alerts.isEmpty && size.holdsAlert }

  /// True if the phone reads and prints lines instead of using the full screen.
  var isPlain: Bool { form.drawing == .plain }

  /// True while an operation or a connection attempt is in progress.
  var isBusy: Bool { connection == .connecting || !activities.isEmpty }

  /// Returns the wrapped notice; empty if there is none.
  func noticeLines(columns: Int) -> [String] {
    notice.map { TextLayout.wrapped($0, columns: columns, maximumLines: 4) } ?? []
  }

  /// The index of the selected app on the home screen.
  var selectedIndex: Int { apps.firstIndex { $0.app.topic == state.place.selectedTopic } ?? 0 }
}

/// An action sheet (X1–X5): a few buttons at the bottom of the screen, destructive ones first and in red, Cancel
/// last.
struct ActionSheet: Sendable, Equatable {
  enum Purpose: Sendable, Equatable {
    /// The actions of the alert on screen.
    case alert
    /// The question which alerts to close. Alerts from this ordinal on are not affected.
    case closeAlerts(before: Int)
    /// The time for which the alerts on screen, or an entry of the center, are snoozed.
    case snoozeAlerts([Int])
    case snoozeEntry(Int)
    /// The end of the marketing of the app of the alert on screen, or of an entry of the center.
    case unsubscribeAlert(DevicePush)
    case unsubscribeEntry(DevicePush)
    /// The permission of a new category of an app.
    case category(String, topic: String)
    case clearAll
    /// The loss of changed settings or of a written push, which the user must confirm (M5).
    case discardSettings, discardDraft

    /// True if the sheet belongs to the alert on screen, and is drawn above it.
    var isOfAlert: Bool {
      switch self {
      case .alert, .closeAlerts, .snoozeAlerts, .unsubscribeAlert: true
      case .snoozeEntry, .unsubscribeEntry, .category, .clearAll, .discardSettings, .discardDraft: false
      }
    }
  }

  var purpose: Purpose
  /// The buttons without Cancel.
  var choices: [AlertAction]
  var focus = 0

  init(_ purpose: Purpose, _ choices: [AlertAction]) {
    self.purpose = purpose
    // X4: a sheet never scrolls.
    let choices = Array(choices.prefix(4))
    self.choices = choices.filter(\.isDestructive) + choices.filter { !$0.isDestructive }
    focus = self.choices.count
  }

  /// The titles of the buttons, from top to bottom.
  var titles: [String] {
    choices.map(\.title) + [purpose == .discardSettings || purpose == .discardDraft ? "Keep Editing" : "Cancel"]
  }
}
