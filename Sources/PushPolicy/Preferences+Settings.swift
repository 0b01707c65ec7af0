/// What an assignment such as `badge=off` can name: the switch for everything, or one of the three parts.
public enum Setting: String, Sendable, CaseIterable {
  case notifications, badge, sound, alert
}

/// Why an assignment changes nothing.
public enum SettingError: Error, Sendable, Equatable {
  /// It has no `=`.
  case notAnAssignment(String)
  /// What stands before `=` is no setting.
  case unknownSetting(String)
  /// What stands behind `=` is no value of this setting here.
  case unknownValue(String, of: Setting, isCategory: Bool)
  /// A category has no switch for everything.
  case notificationsOfCategory(String)
  /// A category was named without the app that it belongs to.
  case categoryWithoutApp(String)
}

extension Preferences {
  /// Changes one choice: `badge=off`, `sound=on`, and for a category also `alert=inherit`.
  ///
  /// It is the choice for everything, for the topic `app`, or for the `category` of that app.
  /// - Throws: ``SettingError``, and then nothing has changed.
  public mutating func set(_ assignment: String, app: String?, category: String?) throws(SettingError) {
    guard let equals = assignment.firstIndex(of: "=") else { throw .notAnAssignment(assignment) }
    let name = String(assignment[..<equals])
    let value = String(assignment[assignment.index(after: equals)...])
    guard let setting = Setting(rawValue: name) else { throw .unknownSetting(name) }

    if let category {
      guard let app else { throw .categoryWithoutApp(category) }
      guard let part = setting.part else { throw .notificationsOfCategory(category) }
      let isAllowed = try setting.choice(value)
      var choices = apps[app]?.categories[category] ?? CategoryPreferences()
      choices[part] = isAllowed
      apps[app, default: .init()].categories[category] = choices == .init() ? nil : choices
    } else if let app {
      let isOn = try setting.isOn(value)
      if let part = setting.part {
        apps[app, default: .init()].parts[part] = isOn
      } else {
        apps[app, default: .init()].notifications = isOn
      }
    } else {
      let isOn = try setting.isOn(value)
      if let part = setting.part { parts[part] = isOn } else { notifications = isOn }
    }
  }
}

extension Setting {
  /// The part that it switches, `nil` for all of them.
  fileprivate var part: Part? {
    switch self {
    case .notifications: nil
    case .badge: .badge
    case .sound: .sound
    case .alert: .alert
    }
  }

  fileprivate func isOn(_ value: String) throws(SettingError) -> Bool {
    switch value {
    case "on": return true
    case "off": return false
    default: throw .unknownValue(value, of: self, isCategory: false)
    }
  }

  /// The choice for a category, which may also be none.
  fileprivate func choice(_ value: String) throws(SettingError) -> Bool? {
    switch value {
    case "on": return true
    case "off": return false
    case "inherit": return nil
    default: throw .unknownValue(value, of: self, isCategory: true)
    }
  }
}

extension SettingError: CustomStringConvertible {
  /// One sentence: what is wrong, and what is allowed.
  public var description: String {
    switch self {
    case .notAnAssignment(let text):
      "\"\(text)\" is no assignment: write <setting>=<value>, such as badge=off"
    case .unknownSetting(let name):
      "\"\(name)\" is no setting: write notifications, badge, sound or alert"
    case .unknownValue("inherit", let setting, isCategory: false):
      "only a category inherits: write \(setting.rawValue)=on or \(setting.rawValue)=off"
    case .unknownValue(let value, let setting, let isCategory):
      "\"\(value)\" is no value of \(setting.rawValue): write \(isCategory ? "on, off or inherit" : "on or off")"
    case .notificationsOfCategory(let category):
      "the category \"\(category)\" has no notifications switch: set its badge, sound and alert"
    case .categoryWithoutApp(let category):
      "the category \"\(category)\" needs the app that it belongs to"
    }
  }
}
