/// One preference of a user with all its properties: a row of ``all``.
///
/// The row determines the coding, the form that clients may write, assignments such as `badge=off`, the settings
/// screen, `pushcli prefs`, the command in an explanation, and docs/reference/preferences.md. The effect of a
/// preference is defined in `Policy`, which reads only the stored properties.
package struct Preference: Sendable {
  /// The scope of a preference: all apps, one app, or one category of an app.
  package enum Scope: Sendable, CaseIterable { case everything, app, category }

  /// The name in assignments, which also accept the name in JSON.
  package let name: String
  /// The name in JSON.
  let key: String
  /// The name on a settings screen.
  let title: String
  /// The name in a list of effective preferences.
  let label: String
  /// True if there is one value for each name that the user chooses, as `focus.work`.
  let isNamed: Bool
  /// The effect, in a few words.
  package let help: String
  let everything: PreferenceSlot<Preferences>?
  let app: PreferenceSlot<AppPreferences>?
  let category: PreferenceSlot<CategoryPreferences>?

  init(
    _ name: String, key: String? = nil, title: String, label: String? = nil, isNamed: Bool = false, help: String,
    everything: PreferenceSlot<Preferences>? = nil, app: PreferenceSlot<AppPreferences>? = nil,
    category: PreferenceSlot<CategoryPreferences>? = nil
  ) {
    (self.name, self.key, self.title, self.label) = (name, key ?? name, title, label ?? name)
    (self.isNamed, self.help) = (isNamed, help)
    (self.everything, self.app, self.category) = (everything, app, category)
  }
}

extension Preference {
  /// The table of preferences: one row each, in the order of lists.
  package static let all: [Preference] = [
    Preference(
      "notifications", title: "Allow Notifications", help: "whether notifications are allowed",
      everything: PreferenceSlot(\.notifications, .isOn, isAlwaysWritten: true, refusal: "notifications are off"),
      app: PreferenceSlot(\.notifications, .isOn, isAlwaysWritten: true, refusal: "notifications are off") { app in
        // An app with notifications turned off is not on probation any longer.
        if !app.notifications { app.provisional = false }
      }),
    part(.badge, "Badges", help: "whether the app's icon shows a number"),
    part(.sound, "Sounds", help: "whether notifications play a sound"),
    part(.alert, "Alerts", help: "whether notifications show an alert"),
    Preference(
      "quiet", title: "Quiet Hours", label: "quiet hours",
      help: "windows without alerts and sounds; several separated by `;`",
      everything: PreferenceSlot(\.quietHours, .windows)),
    Preference(
      "summary", title: "Summary at", help: "times of the summary with deferred pushes; at most 12 a day",
      everything: PreferenceSlot(\.summary, .times)),
    Preference(
      "focus", title: "Focus “NAME” Lets Through", label: "focus NAME", isNamed: true,
      help: "the apps that a Focus lets through; `off` deletes it", everything: PreferenceSlot(\.focuses, .focuses)),
    Preference(
      "log-text", key: "log_text", title: "Texts in the Log",
      help: "search for pushes by text in the delivery log. `off`: no text is stored; `devices`: by the user's own "
        + "devices; `senders`: by senders, too",
      everything: PreferenceSlot(\.logText, .logText)),
    Preference(
      "delivery", title: "Deliver", help: "whether its pushes interrupt now or are deferred to the summary",
      app: PreferenceSlot(
        \.delivery, .delivery, refusal: "the app's pushes come in the summary", remark: "in the summary")),
    Preference(
      "time-sensitive", key: "time_sensitive", title: "Time-Sensitive Breaks Through",
      help: "whether its time-sensitive pushes break through quiet hours and Focus",
      app: PreferenceSlot(\.timeSensitive, .isOn, remark: "time-sensitive")),
    Preference(
      "critical", title: "Critical Breaks Through",
      help: "whether its critical pushes break through everything, the silent switch too",
      app: PreferenceSlot(\.critical, .isOn, remark: "critical")),
    Preference(
      "advertising", title: "Advertising", help: "whether its alerts may advertise",
      app: PreferenceSlot(
        \.advertising, .either("allow", "refuse"), refusal: "the app may not advertise", remark: "advertising")),
    Preference(
      "marketing", title: "Marketing",
      help: "whether pushes that their sender declares as marketing may alert; `off` for an app unsubscribes from them",
      everything: PreferenceSlot(\.marketing, .isOn, remark: "marketing"),
      app: PreferenceSlot(
        \.marketing, .isOnOrInherited, refusal: "marketing of the app is off", remark: "marketing VALUE"
      ) { app in
        // The app may no longer advertise without a declaration, either.
        if app.marketing == false { app.advertising = false }
      }),
    Preference(
      "budget", key: "alert_budget", title: "Alerts an Hour",
      help:
        "alerts an hour; further alerts are in the center only. By default \(AlertBudget.standardCount), not counting "
        + "time-sensitive and critical ones",
      app: PreferenceSlot(
        \.alertBudget, .budget, refusal: "the app has shown its VALUE alerts of this hour",
        remark: "VALUE alerts an hour")),
    Preference(
      "provisional", title: "Deliver Quietly",
      help: "`on`: quiet until the user decides. `notifications=off` ends it, too",
      app: PreferenceSlot(
        \.provisional, .either("on", "keep", letting: "keep"), refusal: "the app is on probation", remark: "provisional"
      )),
    Preference(
      "permission", title: "Permission",
      help: "`show`; `quiet`: in the center only; `off`; `new`: not chosen yet, and quiet if the app's new ones are",
      category: PreferenceSlot(\.permission, .categoryPermission, refusal: "the category is VALUE", remark: "VALUE")),
  ]

  private static func part(_ part: Part, _ title: String, help: String) -> Preference {
    let refusal = "\(part.rawValue) is off"
    return Preference(
      part.rawValue, title: title, help: help,
      everything: PreferenceSlot(\.parts[part], .isOn, isAlwaysWritten: true, refusal: refusal),
      app: PreferenceSlot(\.parts[part], .isOn, isAlwaysWritten: true, refusal: refusal),
      category: PreferenceSlot(\.[part], .isOnOrInherited, refusal: refusal))
  }

  /// Returns the preference that an assignment names; nil if there is none.
  static func named(_ name: String) -> Preference? {
    all.first { choice in
      choice.isNamed ? name.hasPrefix(choice.name + ".") : choice.names.contains(name)
    }
  }

  /// The names that assignments accept.
  private var names: [String] { [name, key, key.replacing("_", with: "-")] }

  /// The name in lists: `focus.NAME` for a preference with names.
  package var listedName: String { isNamed ? name + ".NAME" : name }

  package static func choices(of scope: Scope) -> [Preference] { all.filter { $0.values(in: scope) != nil } }

  /// Returns the description of the values in a scope; `nil` if the scope does not have this preference.
  package func values(in scope: Scope) -> String? {
    switch scope {
    case .everything: everything?.words
    case .app: app?.words
    case .category: category?.words
    }
  }

  /// Returns the names of the preferences of a scope, for users.
  static func names(of scope: Scope) -> String {
    var names = choices(of: scope).map(\.listedName)
    let last = names.removeLast()
    return names.joined(separator: ", ") + " or " + last
  }
}

package struct EffectivePreference: Sendable, Equatable {
  /// The name in assignments.
  package var name: String
  /// The name on a settings screen.
  package var title: String
  /// The name in a list of effective preferences.
  package var label: String
  /// The value in the syntax of an assignment.
  package var value: String
  /// The usual values, as a settings screen offers them.
  package var values: [String]
  /// True if other values may be typed.
  package var isText: Bool
  /// True if the preference has names, and this name has no value and is only offered.
  package var isForgotten: Bool
  /// The remark for a value other than the default; `nil` for the default, or if the value needs no remark.
  package var remark: String?
}

/// An object with preferences: all apps, an app, or a category.
protocol PreferenceHolder: Sendable {
  /// Makes an object in which all preferences have their defaults.
  init()
  static var slots: [(choice: Preference, slot: PreferenceSlot<Self>)] { get }
}

extension Preferences: PreferenceHolder {
  static let slots: [(choice: Preference, slot: PreferenceSlot<Preferences>)] = Preference.all.compactMap { choice in
    choice.everything.map { (choice, $0) }
  }

  package var choices: [EffectivePreference] { effective() }
}

extension AppPreferences: PreferenceHolder {
  static let slots: [(choice: Preference, slot: PreferenceSlot<AppPreferences>)] = Preference.all.compactMap { choice in
    choice.app.map { (choice, $0) }
  }

  package var choices: [EffectivePreference] { effective() }
}

extension CategoryPreferences: PreferenceHolder {
  static let slots: [(choice: Preference, slot: PreferenceSlot<CategoryPreferences>)] = Preference.all.compactMap {
    choice in
    choice.category.map { (choice, $0) }
  }

  package var choices: [EffectivePreference] { effective() }
}

extension PreferenceHolder {
  fileprivate func effective() -> [EffectivePreference] {
    Self.slots.flatMap { choice, slot in
      slot.members(self).map { member in
        EffectivePreference(
          name: choice.isNamed ? "\(choice.name).\(member)" : choice.name,
          title: choice.title.replacing("NAME", with: member), label: choice.label.replacing("NAME", with: member),
          value: slot.text(self, member), values: slot.values, isText: slot.isText,
          isForgotten: choice.isNamed && slot.text(self, member) == "off", remark: slot.remark(self))
      }
    }
  }
}
