import Foundation
import GatewayProtocol
import TerminalUI

/// The simulated phone as one value: what it must not forget, and what is of the moment.
struct PhoneModel: Sendable, Equatable {
  /// The name of this device.
  var device: String
  /// Changed by ``record(_:)``, so that all of it is stored, and by what is stored already.
  private(set) var state: PhoneState

  var connection = PhoneConnection.connecting
  /// The time of the last message.
  var now = Date(timeIntervalSince1970: 0)
  var size = Size(columns: 80, rows: 24)
  /// Whether the terminal has the focus; told by those that know (mode 1004).
  var hasFocus = true
  /// Which button of the alert on screen Return presses; `nil` is the one that is likely (D1, D2).
  var focusedButton: Int?
  /// Whether keys are for what is in front of the person's eyes; `nil` while no alert is.
  var attention: Attention?
  var attentionCount = 0
  /// The first line of the alert on screen that is shown.
  var alertOffset = 0
  /// What rises from below, above everything but an alert (M3).
  var sheet: ActionSheet?
  /// The settings while they are open (M1).
  var settings: SettingsDraft?
  /// A push that is being written (M1).
  var draft: PushDraft?
  /// Whether a sender's key is at hand to send it with.
  var canCompose = false
  var center = CenterPosition()
  /// The rows of the center, for as long as nothing has changed.
  var centerMemo = RowCache()
  /// How the message of an app's screen is read.
  var reading = Reading()
  /// What `u` brings back, and what `U` clears again (L5).
  var undo, redo: Undo?
  var isHelpShown = false
  /// The first line of the help that is shown.
  var helpOffset = 0
  /// What is being waited for, and how far its sign has turned (L6).
  var activities: Set<PhoneActivity> = []
  var activityPhase = 0
  /// Whether that sign is to turn soon.
  var isTurning = false
  /// Something that the person should know, in a line, until a key is pressed.
  var notice: String?
  /// How the terminal is drawn on.
  var form = TerminalCapabilities.full
  /// What the terminal's background is like, and what was asked for in place of that.
  var background = Appearance.dark
  var wantedAppearance: Appearance?
  /// When the terminal got the focus: the click that gave it was for nothing else.
  var focusedAt: Date?
  /// For all times on screen.
  var timeZone = TimeZone.current
  /// Changes that were made here and not handed out for storing.
  private var changes: [PhoneChange] = []
  /// Those of them, and of the ones before, that may not be in the history yet, and how many are.
  private var unconfirmed: [PhoneChange] = []
  private var confirmedCount = 0

  /// Entries that were cleared, and the words for it.
  struct Undo: Sendable, Equatable {
    /// Such as `Clear News`.
    var title: String
    var entries: [PhoneState.Entry]
  }

  init(device: String, state: PhoneState = PhoneState()) {
    self.device = device
    self.state = state
  }

  /// Changes what must not be forgotten.
  mutating func record(_ change: PhoneChange) {
    take(in: change)
    changes.append(change)
    unconfirmed.append(change)
  }

  /// How many changes may not be in the history yet.
  var unconfirmedCount: Int { unconfirmed.count }

  /// Lets a change happen that is in the history.
  mutating func take(in change: PhoneChange) {
    state.apply(change)
    if change.concernsCenter { centerMemo.forget() }
  }

  /// Notes that the first `count` changes of this screen are in the history.
  ///
  /// - Parameter history: The history with them, if other screens have changed it; each screen keeps its own place.
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

  /// The changes since the last call, in order.
  mutating func takeChanges() -> [PhoneChange] {
    defer { changes = [] }
    return changes
  }

  var alerts: [QueuedAlert] { state.alerts }
  var apps: [InstalledApp] { state.apps }
  var screen: PhoneState.Screen { state.place.screen }

  /// The sheet that keys are for: one that an alert has covered waits until that is answered.
  var sheetInFront: ActionSheet? { sheet.flatMap { $0.purpose.isOfAlert || !isAlertShown ? $0 : nil } }

  /// Whether text is being typed into a field.
  var isEditing: Bool {
    draft?.isTyping ?? settings.map { $0.typing != nil } ?? (center.isTyping && screen == .center)
  }

  var palette: Palette {
    if form.colors < 256 { return .basic }
    return (wantedAppearance ?? state.settings.appearance ?? background) == .light ? .light : .dark
  }

  /// An app as headers name it; its icon only where the terminal can draw it.
  func title(of app: DeviceApp) -> String {
    app.icon.isEmpty || form.drawing == .ascii ? app.name : app.icon + " " + app.name
  }

  /// The row after the last one of what the person looks at.
  var contentEnd: Int { size.contentEnd - bar.count }

  /// What is undone and done again, in lines of their own where the last row has no room for all of it (L5).
  var bar: [String] {
    let titles = isAlertShown || settings != nil || draft != nil ? [] : undoTitles.map { "\($0.key) \($0.title)" }
    // The keys of the help stand beside it.
    guard DisplayWidth.of(titles.joined(separator: "   ")) > size.columns - 10 else { return [] }
    return titles.flatMap { TextLayout.wrapped($0, columns: max(size.columns - 2, 1)) }
  }

  /// What can be undone and done again where that is offered, with the keys.
  var undoTitles: [(key: Character, title: String)] {
    guard screen != .home else { return [] }
    return (undo.map { [("u", "Undo \($0.title)")] } ?? []) + (redo.map { [("U", "Redo \($0.title)")] } ?? [])
  }

  /// What is in front of the person.
  var group: AlertGroup? { AlertGroup(alerts) }

  /// Whether an alert is in front of the person's eyes.
  var isAlertShown: Bool { !alerts.isEmpty && size.holdsAlert }

  /// Whether it is read and typed to in lines of words.
  var isPlain: Bool { form.drawing == .plain }

  /// Whether something is waited for.
  var isBusy: Bool { connection == .connecting || !activities.isEmpty }

  /// The notice, wrapped; empty when there is none.
  func noticeLines(columns: Int) -> [String] {
    notice.map { TextLayout.wrapped($0, columns: columns, maximumLines: 4) } ?? []
  }

  /// The place of the selected app on the home screen.
  var selectedIndex: Int { apps.firstIndex { $0.app.topic == state.place.selectedTopic } ?? 0 }
}

/// An action sheet (X1–X5): a few choices from below, destructive ones first and in red, Cancel last.
struct ActionSheet: Sendable, Equatable {
  enum Purpose: Sendable, Equatable {
    /// The actions of the alert on screen.
    case alert
    /// Which of the alerts to close that have come before the one with this ordinal.
    case closeAlerts(before: Int)
    case clearAll
    /// What was changed in the settings, or written, would be lost (M5).
    case discardSettings, discardDraft

    /// Whether it belongs to what is in front, and rises above it.
    var isOfAlert: Bool {
      switch self {
      case .alert, .closeAlerts: true
      case .clearAll, .discardSettings, .discardDraft: false
      }
    }
  }

  var purpose: Purpose
  /// Without Cancel.
  var choices: [AlertChoice]
  var focus = 0

  init(_ purpose: Purpose, _ choices: [AlertChoice]) {
    self.purpose = purpose
    // X4: a sheet never scrolls.
    let choices = Array(choices.prefix(4))
    self.choices = choices.filter(\.isDestructive) + choices.filter { !$0.isDestructive }
    focus = self.choices.count
  }

  /// What can be picked, from top to bottom.
  var titles: [String] {
    choices.map(\.title) + [purpose == .discardSettings || purpose == .discardDraft ? "Keep Editing" : "Cancel"]
  }
}
