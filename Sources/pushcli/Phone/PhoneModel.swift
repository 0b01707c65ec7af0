import Foundation
import GatewayProtocol
import TerminalUI

/// The simulated phone as one value: what it must not forget, and what is of the moment.
struct PhoneModel: Sendable, Equatable {
  /// The name of this device.
  var device: String
  /// Changed by ``record(_:)`` only, so that all of it is stored.
  private(set) var state: PhoneState

  var connection = PhoneConnection.connecting
  /// The time of the last message.
  var now = Date(timeIntervalSince1970: 0)
  var size = Size(columns: 80, rows: 24)
  /// Whether the terminal has the focus; told by those that know (mode 1004).
  var hasFocus = true
  /// Which button of the alert on screen Return presses; `nil` is the one that is likely (D1, D2).
  var focusedButton: Int?
  /// The alert in front of the person's eyes, and whether keys are for it; `nil` while there is none.
  private(set) var attention: Attention?
  private var attentionCount = 0
  /// What rises from below, above everything but an alert (M3).
  var sheet: ActionSheet?
  /// The settings while they are open (M1).
  var settings: SettingsDraft?
  var center = CenterPosition()
  /// What `u` brings back (L5).
  var undo: Undo?
  var isHelpShown = false
  /// Something that the person should know, in a line, until a key is pressed.
  var notice: String?
  /// For all times on screen.
  var timeZone = TimeZone.current
  /// Changes that were made and not handed out for storing.
  private var changes: [PhoneChange] = []

  /// Whether keys are for an alert: none is that was on its way to something else when the alert appeared.
  struct Attention: Sendable, Equatable {
    var ordinal: Int
    /// Tells one time that keys do not count from the next.
    var number: Int
    /// Whether it has been on screen for long enough to be seen before a key is pressed.
    var isReady = false
    /// Whether a field was being edited, which keys are for until Esc or Tab.
    var isElsewhere = false
  }

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
    state.apply(change)
    changes.append(change)
  }

  /// The changes since the last call, in order.
  mutating func takeChanges() -> [PhoneChange] {
    defer { changes = [] }
    return changes
  }

  var alerts: [QueuedAlert] { state.alerts }
  var apps: [InstalledApp] { state.apps }
  var screen: PhoneState.Screen { state.place.screen }

  /// Whether an alert is in front of the person's eyes.
  var isAlertShown: Bool { !alerts.isEmpty && size.holdsPhone }

  /// Has keys count for the alert on screen after a while.
  ///
  /// - Returns: the number of ``Attention``.
  mutating func beginAttention(_ ordinal: Int, isElsewhere: Bool = false) -> Int {
    attentionCount += 1
    attention = Attention(ordinal: ordinal, number: attentionCount, isElsewhere: isElsewhere)
    return attentionCount
  }

  mutating func endAttention() { attention = nil }

  /// Keys count from now on.
  mutating func noteReadiness(_ number: Int) { if attention?.number == number { attention?.isReady = true } }

  /// The person has turned from the field to the alert.
  mutating func turnToAlert() { attention?.isElsewhere = false }

  /// Whether keys are for the alert on screen.
  var isAlertReady: Bool { attention.map { $0.isReady && !$0.isElsewhere } ?? false }

  /// The sheet that keys are for: one that an alert has covered waits until that is answered.
  var sheetInFront: ActionSheet? { sheet.flatMap { $0.purpose == .alert || !isAlertShown ? $0 : nil } }

  /// Whether text is being typed into a field.
  var isEditing: Bool { settings.map { $0.typing != nil } ?? (center.isTyping && screen == .center) }

  /// The notice, wrapped; empty when there is none.
  func noticeLines(columns: Int) -> [String] {
    notice.map { TextLayout.wrapped($0, columns: columns, maximumLines: 4) } ?? []
  }

  /// The place of the selected app on the home screen.
  var selectedIndex: Int { apps.firstIndex { $0.app.topic == state.place.selectedTopic } ?? 0 }

  /// Which of the alert's buttons has the focus: the one on the right, unless the person moved it.
  var alertFocus: Int { focusedButton ?? (alerts.first?.choices.count ?? 1) - 1 }
}

/// An action sheet (X1–X5): a few choices from below, destructive ones first and in red, Cancel last.
struct ActionSheet: Sendable, Equatable {
  enum Purpose: Sendable, Equatable {
    /// The actions of the alert on screen.
    case alert
    case clearAll
    /// What was changed in the settings would be lost (M5).
    case discardSettings
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
  var titles: [String] { choices.map(\.title) + [purpose == .discardSettings ? "Keep Editing" : "Cancel"] }
}
