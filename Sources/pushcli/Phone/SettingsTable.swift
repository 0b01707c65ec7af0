import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

/// One row of the settings, with its title, its possible values and its position in the groups.
struct SettingsRow: Sendable, Equatable {
  /// Identifies a setting by its owner and its name.
  enum Key: Sendable, Hashable {
    /// A preference of the user: for everything, for an app, or for a category of an app. The name is that of the
    /// gateway.
    case choice(String, app: String?, category: String?)
    /// A setting of this device.
    case device(DeviceField)
    /// The standing of an app with its recipients, which can't be changed.
    case standing(app: String)
  }

  enum DeviceField: String, Sendable, Hashable { case silent, focus, volume, notices, appearance, mouse }

  var key: Key
  var title: String
  /// The possible values. Two values form a switch; more form a list with one selected value.
  var values: [String]
  /// The current value.
  var value: String
  /// True if other values may be typed.
  var isText = false
  /// The indentation level below another row.
  var level = 0
  /// The explanation of a row with a fact instead of a setting.
  var note = ""

  var isSwitch: Bool { Set(values) == ["on", "off"] }
}

/// Rows that belong together, under a header.
struct SettingsGroup: Sendable, Equatable {
  var title: String
  var rows: [SettingsRow]
}

/// The settings screen as a table: this device's rows, and one row for each preference of the policy.
extension SettingsGroup {
  /// The title of the group of this device's settings.
  static let deviceTitle = "This Device"
  /// The words for an absent value, which are removed when the user begins to type.
  fileprivate static let nothing = ["off", "none", "unlimited"]

  /// Returns a row. An unusual current value is added to the possible values.
  private static func row(
    _ key: SettingsRow.Key, _ title: String, _ values: [String], _ value: String, isText: Bool = false, level: Int = 0
  ) -> SettingsRow {
    let values = values.contains(value) ? values : [value] + values
    return SettingsRow(key: key, title: title, values: values, value: value, isText: isText, level: level)
  }

  private static func row(
    _ choice: EffectivePreference, app: String? = nil, category: String? = nil
  ) -> SettingsRow {
    row(
      .choice(choice.name, app: app, category: category),
      category.map { "\($0): \(choice.title)" } ?? choice.title, choice.values, choice.value, isText: choice.isText,
      level: category == nil ? 0 : 1)
  }

  private static func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }

  /// Returns all groups: this device, everything, then each app with its known categories.
  static func groups(_ state: PhoneState) -> [SettingsGroup] {
    let settings = state.settings
    let device = SettingsGroup(
      title: deviceTitle,
      rows: [
        SettingsRow(
          key: .device(.silent), title: "Silent", values: ["off", "on"], value: word(settings.isSilent)),
        row(
          .device(.focus), "Focus", ["off"] + state.preferences.focuses.keys.sorted(),
          settings.focus.isEmpty ? "off" : settings.focus),
        SettingsRow(
          key: .device(.volume), title: "Volume", values: ["0", "25", "50", "75", "100"],
          value: String(settings.volume)),
        SettingsRow(
          key: .device(.notices), title: "Desktop Notifications",
          values: DeviceSettings.Notices.allCases.map(\.rawValue), value: settings.notices.rawValue),
        SettingsRow(
          key: .device(.appearance), title: "Appearance",
          values: ["automatic"] + Appearance.allCases.map(\.rawValue),
          value: settings.appearance?.rawValue ?? "automatic"),
        SettingsRow(key: .device(.mouse), title: "Mouse", values: ["off", "on"], value: word(settings.usesMouse)),
      ])
    let preferences = state.preferences
    let everything = SettingsGroup(title: "Everything", rows: preferences.choices.map { row($0) })
    return [device, everything] + state.apps.map { group($0.app, preferences.apps[$0.app.topic] ?? AppPreferences()) }
  }

  private static func group(_ app: DeviceApp, _ choices: AppPreferences) -> SettingsGroup {
    var rows = choices.choices.map { row($0, app: app.topic) }
    for (name, category) in choices.categories.sorted(by: { $0.key < $1.key }) {
      rows += category.choices.map { row($0, app: app.topic, category: name) }
    }
    if let standing = app.standing { rows.append(row(standing, of: app.topic)) }
    return SettingsGroup(title: app.name, rows: rows)
  }

  /// Returns the row with the standing of an app.
  private static func row(_ standing: DeviceStanding, of topic: String) -> SettingsRow {
    let facts = standing.facts
    let value =
      standing.summaryUntil.map { "in the summary until \($0.prefix(10))" }
      ?? "\(facts.presented) alerts, \(facts.reported) reported"
    let use = "\(facts.presented) alerts in \(Standing.Bound.days) days: \(facts.viewed) viewed, \(facts.closed) closed"
    return SettingsRow(
      key: .standing(app: topic), title: "Standing", values: [value], value: value,
      note: use + ", \(facts.reported) reported, \(facts.unsubscribed) left.")
  }
}

/// The changes in the open settings, before Done completes them.
struct SettingsDraft: Sendable, Equatable {
  var changes: [SettingsRow.Key: String] = [:]
  /// The index of the selected row, over all groups.
  var selected = 0
  /// The text that is being typed into the selected row.
  var typing: String?

  /// Returns the groups with the changes applied.
  func groups(_ state: PhoneState) -> [SettingsGroup] {
    var groups = SettingsGroup.groups(state)
    guard !changes.isEmpty else { return groups }
    for group in groups.indices {
      for row in groups[group].rows.indices {
        if let value = changes[groups[group].rows[row].key] { groups[group].rows[row].value = value }
      }
    }
    return groups
  }

  /// Returns true if the selected row accepts text.
  func isText(_ state: PhoneState) -> Bool {
    let rows = SettingsGroup.groups(state).flatMap(\.rows)
    return rows.indices.contains(selected) && rows[selected].isText
  }

  /// Selects the first row of the next or the previous group.
  mutating func jump(_ step: Int, _ state: PhoneState) {
    var starts: [Int] = [0]
    for group in SettingsGroup.groups(state) { starts.append((starts.last ?? 0) + group.rows.count) }
    starts.removeLast()
    selected = (step > 0 ? starts.first { $0 > selected } : starts.last { $0 < selected }) ?? selected
  }

  /// Changes the value of the selected row by one step, cyclically except for the volume.
  mutating func turn(_ step: Int, _ state: PhoneState) {
    let rows = SettingsGroup.groups(state).flatMap(\.rows)
    guard rows.indices.contains(selected) else { return }
    let row = rows[selected]
    let value = changes[row.key] ?? row.value
    let index = row.values.firstIndex(of: value) ?? 0
    // The volume stops at both ends of its range; other values are cyclic.
    let next =
      row.key == .device(.volume)
      ? row.values[min(max(index + step, 0), row.values.count - 1)]
      : row.values[(index + step + row.values.count) % row.values.count]
    changes[row.key] = next == row.value ? nil : next
  }

  /// Begins to type into the selected row if it accepts text.
  mutating func edit(_ state: PhoneState) {
    let rows = groups(state).flatMap(\.rows)
    guard rows.indices.contains(selected), rows[selected].isText else { return }
    let value = rows[selected].value
    typing = SettingsGroup.nothing.contains(value) ? "" : value
  }

  /// Accepts the typed text, or returns a description of the error and leaves the field open.
  mutating func endEdit(_ state: PhoneState) -> String? {
    let rows = SettingsGroup.groups(state).flatMap(\.rows)
    guard let typing, rows.indices.contains(selected) else { return nil }
    if let problem = take(typing, for: rows[selected], state) { return problem }
    self.typing = nil
    return nil
  }

  /// Accepts a value for a row, or returns a description of the error.
  mutating func take(_ text: String, for row: SettingsRow, _ state: PhoneState) -> String? {
    let typed = text.trimmingCharacters(in: .whitespaces)
    let usual = row.values.first { $0.lowercased() == typed.lowercased() }
    let nothing = SettingsGroup.nothing.first { row.values.contains($0) }
    let value = usual ?? (typed.isEmpty ? nothing ?? "" : typed)
    if usual == nil {
      guard row.isText, case .choice(let name, let app, let category) = row.key else {
        return "\(row.title): \(typed) is none of \(row.values.joined(separator: ", "))"
      }
      var copy = state.preferences
      do throws(SettingError) {
        try copy.set("\(name)=\(value)", app: app, category: category)
      } catch {
        return error.description
      }
    }
    changes[row.key] = value == row.value ? nil : value
    return nil
  }

  /// The requests that Done sends to the gateway: one for each scope.
  var requests: [PreferencesRequest] {
    struct Scope: Hashable { var app, category: String? }
    var byScope: [Scope: [String]] = [:]
    for (key, value) in changes {
      guard case .choice(let name, let app, let category) = key else { continue }
      byScope[Scope(app: app, category: category), default: []].append("\(name)=\(value)")
    }
    return byScope.map { scope, settings in
      PreferencesRequest(settings: settings.sorted(), app: scope.app, category: scope.category)
    }.sorted { ($0.app ?? "", $0.category ?? "") < ($1.app ?? "", $1.category ?? "") }
  }

  /// Returns the device's settings after Done.
  func settings(from settings: DeviceSettings) -> DeviceSettings {
    var settings = settings
    if let value = changes[.device(.silent)] { settings.isSilent = value == "on" }
    if let value = changes[.device(.focus)] { settings.focus = value == "off" ? "" : value }
    if let value = changes[.device(.volume)].flatMap({ Int($0) }) { settings.volume = value }
    if let value = changes[.device(.notices)].flatMap({ DeviceSettings.Notices(rawValue: $0) }) {
      settings.notices = value
    }
    if let value = changes[.device(.appearance)] { settings.appearance = Appearance(rawValue: value) }
    if let value = changes[.device(.mouse)] { settings.usesMouse = value == "on" }
    return settings
  }
}
