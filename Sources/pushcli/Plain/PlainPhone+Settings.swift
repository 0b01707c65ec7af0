import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

/// The settings: the table of the settings screen, by number or by name.
extension PlainPhone {
  /// Lists the rows of one group or of all groups.
  mutating func listSettings(_ name: String?) {
    let all = SettingsGroup.groups(state)
    let groups = name.map { name in all.filter { isNamed(name, $0) } } ?? all
    guard !groups.isEmpty else {
      return say("no settings of \(PlainLine.quote(name ?? "")): \(all.map(\.title).joined(separator: ", "))")
    }
    settings = groups.flatMap(\.rows).map(\.key)
    subject = .settings
    var (lines, number) = ([String](), 0)
    for group in groups {
      lines.append("\(group.title):")
      for row in group.rows {
        number += 1
        lines.append("\(number). \(row.title): \(row.value)")
      }
    }
    say(page: lines)
  }

  private func isNamed(_ name: String, _ group: SettingsGroup) -> Bool {
    let name = name.lowercased()
    if name == "device" { return group.title == SettingsGroup.deviceTitle }
    if group.title.lowercased() == name { return true }
    guard let app = app(name), case .choice(_, app.topic, _)? = group.rows.first?.key else { return false }
    return true
  }

  /// Changes a setting, or prints its possible values.
  mutating func set(_ typed: String) -> [PhoneEffect] {
    guard let (row, value) = setting(typed) else { return [] }
    guard !value.isEmpty else {
      show(row)
      return []
    }
    var draft = SettingsDraft()
    if let problem = draft.take(value, for: row, state) {
      return refuse(problem)
    }
    guard !draft.changes.isEmpty else {
      return refuse("\(row.title) is \(row.value) already.")
    }
    phone.settings = draft
    let effects = phone.completeSettings()
    // A change that can't be saved now is discarded.
    phone.settings = nil
    if draft.requests.isEmpty { say("\(row.title): \(draft.changes[row.key] ?? row.value)") }
    return effects
  }

  /// Prints the value and the possible values of a row of the list.
  mutating func showSetting(_ number: Int) {
    if let row = row(number) { show(row) }
  }

  private mutating func show(_ row: SettingsRow) {
    if case .standing = row.key { return say("\(row.title): \(row.value). \(row.explanation)") }
    let others = row.isText ? ", or another value" : ""
    say(
      "\(row.title) is \(row.value); it can be \(row.values.joined(separator: ", "))\(others): set \(PlainPhone.name(row.key)) VALUE"
    )
    if !row.explanation.isEmpty { say(row.explanation) }
  }

  private mutating func row(_ number: Int) -> SettingsRow? {
    guard !settings.isEmpty else {
      return refuse("no setting \(number): settings lists them first")
    }
    guard settings.indices.contains(number &- 1), number > 0 else {
      return refuse("no setting \(number): the list has 1 to \(settings.count)")
    }
    let row = SettingsGroup.groups(state).flatMap(\.rows).first { $0.key == settings[number - 1] }
    if row == nil { say("setting \(number) is gone: settings lists the others") }
    return row
  }

  /// Returns the setting with the longest name that matches, and its new value.
  private mutating func setting(_ typed: String) -> (row: SettingsRow, value: String)? {
    let first = typed.prefix { $0 != " " }
    if let number = Int(first) {
      return row(number).map { ($0, String(typed.dropFirst(first.count)).trimmed) }
    }
    let line = PlainPhone.withoutEquals(typed)
    let lower = line.lowercased()
    var best: (row: SettingsRow, name: String)?
    for row in SettingsGroup.groups(state).flatMap(\.rows) {
      for name in names(row.key) where lower == name || lower.hasPrefix(name + " ") {
        if name.count > best?.name.count ?? 0 { best = (row, name) }
      }
    }
    if let best { return (best.row, String(line.dropFirst(best.name.count)).trimmed) }
    let known = SettingsGroup.groups(state).flatMap(\.rows).map { PlainPhone.name($0.key) }
    let near = Suggestions.nearest(to: String(first), among: known).map { "did you mean \($0)? " } ?? ""
    return refuse("no setting \(PlainLine.quote(typed)): \(near)settings lists their numbers and names")
  }

  /// Converts `badge=off` to `badge off`.
  private static func withoutEquals(_ typed: String) -> String {
    guard let equals = typed.firstIndex(of: "=") else { return typed }
    var text = typed
    text.replaceSubrange(equals...equals, with: " ")
    return text
  }

  /// Returns the possible names of a setting, in lower case.
  private func names(_ key: SettingsRow.Key) -> [String] {
    guard case .choice(let name, let topic?, let category) = key else { return [PlainPhone.name(key)] }
    let rest = [category, name].compactMap(\.self).joined(separator: " ")
    return [topic, state.app(topic)?.app.name ?? topic].map { "\($0) \(rest)".lowercased() }
  }

  private static func name(_ key: SettingsRow.Key) -> String {
    switch key {
    case .device(let field): field.rawValue
    case .standing(let app): "\(app) standing"
    case .choice(let name, let app, let category): [app, category, name].compactMap(\.self).joined(separator: " ")
    }
  }
}
