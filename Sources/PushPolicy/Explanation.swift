/// An explanation for the user why a part was removed: the setting, its scope, and the way to change it.
package struct Explanation: Sendable, Equatable {
  /// The setting, in words.
  package var reason: String
  /// The scope of the setting.
  package var place: String
  /// The command that changes the setting; without such a command, the instruction.
  package var remedy: String

  /// Explains a removal.
  ///
  /// - Parameter device: the name of the device, for the command.
  package init(_ removal: Decision.Removal, preferences: Preferences, device: String) {
    let path = removal.setting.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let set = "pushcli prefs set --device \(shellWord(device))"
    switch (path[0], path.count) {
    case ("apps", _) where path.count >= 3:
      self.init(app: path, preferences: preferences, set: set)
    case ("quiet", 2):
      var windows = preferences.quietHours
      let index = Int(path[1]) ?? 0
      let window = windows.indices.contains(index) ? windows.remove(at: index).description : ""
      let rest = windows.isEmpty ? "off" : windows.map(\.description).joined(separator: "; ")
      self.init("quiet hours \(window)", "for everything", "\(set) \(shellWord("quiet=" + rest))")
    case ("focus", 2):
      let topics = preferences.focuses[path[1]]?.sorted().joined(separator: ",") ?? ""
      let list = topics.isEmpty ? "TOPIC" : topics + ",TOPIC"
      self.init(
        "the Focus \(path[1]) is on and does not let the app through", "on the device",
        "\(set) \(shellWord("focus.\(path[1])=\(list)"))")
    case ("silent", 1):
      self.init("the silent switch is on", "on the device", "turn the switch off on \(device)")
    case ("absence", 1):
      self.init(
        "more pushes were pending while the device was away than alerts are shown for", "by default",
        "\(set) --app TOPIC budget=unlimited")
    case ("budget", 1):
      self.init(
        "the app has shown its \(AlertBudget.standardCount) alerts of this hour", "by default",
        "\(set) --app TOPIC budget=unlimited")
    case ("interruption-level", 1):
      self.init("the sender marked the push as passive", "in the payload", "only the sender can change it")
    default:
      self =
        Explanation(removal.setting, of: preferences, "for everything", set)
        ?? .init(removal.setting, "in the preferences", set)
    }
  }

  private init(_ reason: String, _ place: String, _ remedy: String) {
    (self.reason, self.place, self.remedy) = (reason, place, remedy)
  }

  private init(app path: [String], preferences: Preferences, set: String) {
    let topic = path[1]
    let set = "\(set) --app \(shellWord(topic))"
    let place = "for \(topic)"
    let choices = preferences.apps[topic] ?? AppPreferences()
    if path[2] == "standing" {
      self.init("recipients reported the app's alerts as advertising", place, "\(set) advertising=allow")
    } else if path[2] == "categories", path.count >= 5 {
      // The name of a category may contain slashes.
      let (category, key) = (path[3..<path.count - 1].joined(separator: "/"), path[path.count - 1])
      self =
        Explanation(
          key, of: choices.categories[category] ?? CategoryPreferences(), "for the category \(category) of \(topic)",
          "\(set) --category \(shellWord(category))") ?? .init(key, place, set)
    } else {
      self = Explanation(path[2], of: choices, place, set) ?? .init(path[2], place, set)
    }
  }

  /// Explains the preference with this key from the table of preferences; `nil` if it removes nothing.
  private init?<Holder: PreferenceHolder>(_ key: String, of holder: Holder, _ place: String, _ set: String) {
    guard let (choice, slot) = Holder.slots.first(where: { $0.choice.key == key }), let reason = slot.refusal(holder)
    else { return nil }
    self.init(reason, place, "\(set) \(choice.name)=\(slot.remedy)")
  }
}

extension Explanation {
  /// Explains a removal like ``init(_:preferences:device:)``, with the app's topic in commands that need one.
  package init(_ removal: Decision.Removal, preferences: Preferences, device: String, topic: String) {
    self.init(removal, preferences: preferences, device: device)
    remedy = remedy.split(separator: "TOPIC", maxSplits: 1, omittingEmptySubsequences: false).joined(separator: topic)
  }
}

/// Returns a word for a shell, quoted if necessary.
func shellWord(_ word: String) -> String {
  let isPlain = word.utf8.allSatisfy { byte in
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "._-=:,/+".utf8.contains(byte)
  }
  if isPlain, !word.isEmpty { return word }
  return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
