/// What an assignment such as `badge=off` can name, besides `focus.NAME`.
public enum Setting: String, Sendable, CaseIterable {
  case notifications, badge, sound, alert
  case quiet, summary
  case advertising, critical, budget, delivery, provisional
  case timeSensitive = "time-sensitive"

  /// Whose choice it is.
  public enum Scope: Sendable { case everything, app, category }

  /// The scopes that have this choice.
  public var scopes: [Scope] {
    switch self {
    case .notifications: [.everything, .app]
    case .badge, .sound, .alert: [.everything, .app, .category]
    case .quiet, .summary: [.everything]
    case .advertising, .critical, .budget, .delivery, .provisional, .timeSensitive: [.app]
    }
  }

  /// The names that a scope has, for people.
  static func names(of scope: Scope) -> String {
    var names = allCases.filter { $0.scopes.contains(scope) }.map(\.rawValue)
    if scope == .everything { names.append("focus.NAME") }
    let last = names.removeLast()
    return names.joined(separator: ", ") + " or " + last
  }
}

/// Why an assignment changes nothing: what is wrong and what is allowed, in one sentence.
public struct SettingError: Error, Sendable, Equatable, CustomStringConvertible {
  public var description: String

  init(_ description: String) { self.description = description }
}

extension Preferences {
  /// Changes one choice: `badge=off`, `quiet=22:00-07:00`, `focus.work=com.example.mail`, of an app also `budget=5`, and
  /// of a category also `alert=inherit`.
  ///
  /// It is the choice for everything, for the topic `app`, or for the `category` of that app.
  /// - Throws: ``SettingError``, and then nothing has changed.
  public mutating func set(_ assignment: String, app: String?, category: String?) throws(SettingError) {
    guard let equals = assignment.firstIndex(of: "=") else {
      throw SettingError("\"\(assignment)\" is no assignment: write <setting>=<value>, such as badge=off")
    }
    let name = String(assignment[..<equals])
    let value = String(assignment[assignment.index(after: equals)...])
    let scope: Setting.Scope = category != nil ? .category : app != nil ? .app : .everything
    if let category, app == nil {
      throw SettingError("the category \"\(category)\" needs the app that it belongs to")
    }
    if name.hasPrefix("focus."), scope == .everything { return try setFocus(String(name.dropFirst(6)), value) }
    guard let setting = Setting(name) else {
      throw SettingError("\"\(name)\" is no setting: write \(Setting.names(of: scope))")
    }
    guard setting.scopes.contains(scope) else { throw setting.misplaced(in: scope, category: category) }

    switch (app, category) {
    case (let app?, let category?):
      var choices = apps[app]?.categories[category] ?? CategoryPreferences()
      if let part = setting.part { choices[part] = try setting.choice(value) }
      apps[app, default: .init()].categories[category] = choices == .init() ? nil : choices
    case (let app?, nil):
      var choices = apps[app] ?? AppPreferences()
      try choices.set(setting, value)
      apps[app] = choices
    default: try set(setting, value)
    }
  }

  private mutating func set(_ setting: Setting, _ value: String) throws(SettingError) {
    switch setting {
    case .quiet:
      quietHours = try setting.list(value, of: "22:00-07:00 mon-fri Europe/Berlin", reading: QuietWindow.init(_:))
      guard quietHours.count <= Preferences.maximumWindows else {
        throw SettingError("there are at most \(Preferences.maximumWindows) windows of quiet hours")
      }
    case .summary:
      guard let times = value == "default" ? SummaryTimes() : SummaryTimes(value) else {
        throw SettingError("\"\(value)\" is no value of summary: write times such as \"08:00,18:00 Europe/Berlin\"")
      }
      summary = times
    default:
      let isOn = try setting.isOn(value)
      if let part = setting.part { parts[part] = isOn } else { notifications = isOn }
    }
  }

  /// The most windows of quiet hours that a person may have.
  static let maximumWindows = 32
  /// The most Focuses that a person may have.
  static let maximumFocuses = 32

  private mutating func setFocus(_ name: String, _ value: String) throws(SettingError) {
    guard Preferences.isFocusName(name) else {
      throw SettingError("\"\(name)\" is no name of a Focus: letters, digits, hyphens and spaces, at most 64")
    }
    switch value {
    case "off": focuses[name] = nil
    case "none": focuses[name] = []
    default: focuses[name] = Set(value.split(separator: ",").map { String($0.filter { $0 != " " }) })
    }
    guard focuses.count <= Preferences.maximumFocuses else {
      throw SettingError("there are at most \(Preferences.maximumFocuses) Focuses")
    }
  }

  /// Letters, digits, hyphens, underscores and spaces, 1 to 64 bytes.
  static func isFocusName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == " " }
  }
}

extension AppPreferences {
  fileprivate mutating func set(_ setting: Setting, _ value: String) throws(SettingError) {
    switch setting {
    case .notifications:
      notifications = try setting.isOn(value)
      // Turned off is not on probation any more.
      if !notifications { provisional = false }
    case .badge: parts.badge = try setting.isOn(value)
    case .sound: parts.sound = try setting.isOn(value)
    case .alert: parts.alert = try setting.isOn(value)
    case .advertising: advertising = try setting.isOn(value, "allow", "refuse")
    case .timeSensitive: timeSensitive = try setting.isOn(value)
    case .critical: critical = try setting.isOn(value)
    case .provisional: provisional = try setting.isOn(value, "on", "keep")
    case .budget:
      if value == "none" {
        alertBudget = nil
      } else if let count = Int(value), (0...AppPreferences.maximumBudget).contains(count) {
        alertBudget = count
      } else {
        throw SettingError("\"\(value)\" is no value of budget: write the alerts an hour, such as budget=5, or none")
      }
    case .delivery:
      guard let delivery = Delivery(rawValue: value) else {
        throw SettingError("\"\(value)\" is no value of delivery: write now or summary")
      }
      self.delivery = delivery
    case .quiet, .summary: preconditionFailure("an app has no such choice")
    }
  }

  /// The most alerts an hour that a budget may say.
  static let maximumBudget = 10_000
}

extension Setting {
  /// The setting by its name as people or JSON write it.
  fileprivate init?(_ name: String) {
    switch name {
    case "time_sensitive": self = .timeSensitive
    case "alert-budget", "alert_budget": self = .budget
    default: self.init(rawValue: name)
    }
  }

  /// The part that it switches, `nil` for all of them.
  fileprivate var part: Part? { Part(rawValue: rawValue) }

  /// The value of a switch; `on` and `off` always do, and so do the words that suit it better.
  fileprivate func isOn(_ value: String, _ on: String = "on", _ off: String = "off") throws(SettingError) -> Bool {
    switch value {
    case "on", on: return true
    case "off", off: return false
    case "inherit": throw SettingError("only a category inherits: write \(rawValue)=on or \(rawValue)=off")
    default: throw SettingError("\"\(value)\" is no value of \(rawValue): write \(on) or \(off)")
    }
  }

  /// The choice for a category, which may also be none.
  fileprivate func choice(_ value: String) throws(SettingError) -> Bool? {
    switch value {
    case "on": return true
    case "off": return false
    case "inherit": return nil
    default: throw SettingError("\"\(value)\" is no value of \(rawValue): write on, off or inherit")
    }
  }

  /// Values with semicolons between them; `off` is none.
  fileprivate func list<Value>(
    _ value: String, of example: String, reading: (String) -> Value?
  ) throws(SettingError) -> [Value] {
    if value == "off" { return [] }
    var values: [Value] = []
    for text in value.split(separator: ";", omittingEmptySubsequences: false) {
      guard let read = reading(String(text)) else {
        throw SettingError(
          "\"\(text)\" is no value of \(rawValue): write \"\(example)\", several with ; between them, or off")
      }
      values.append(read)
    }
    return values
  }

  /// The error of a setting that this scope has not.
  fileprivate func misplaced(in scope: Scope, category: String?) -> SettingError {
    switch scope {
    case .category:
      SettingError(
        "the category \"\(category ?? "")\" has no choice of \(rawValue): write \(Setting.names(of: .category))")
    case .app: SettingError("\(rawValue) is one choice for everything: leave the app out")
    case .everything: SettingError("\(rawValue) is chosen for each app: name one")
    }
  }
}

extension Preferences {
  /// Every time zone that is named.
  public var zones: Set<String> { Set(quietHours.compactMap(\.zone) + [summary.zone].compactMap(\.self)) }
}
