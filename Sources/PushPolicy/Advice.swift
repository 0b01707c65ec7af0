/// The use of one user's alerts, by app and category, from which quieter preferences are proposed.
package struct AlertUse: Sendable, Equatable {
  package struct Counts: Sendable, Equatable {
    /// The alerts that the user's devices reported as shown.
    package var presented = 0
    /// The alerts that the user opened, or answered with an action.
    package var viewed = 0
    /// The alerts that the user closed without opening them.
    package var closed = 0

    package init() {}

    fileprivate mutating func add(_ other: Counts) {
      presented += other.presented
      viewed += other.viewed
      closed += other.closed
    }
  }

  /// The kind of a push: its app and category.
  private struct Kind: Hashable, Sendable {
    var topic: String
    var category: String?
  }

  /// The number of alerts below which nothing is proposed: fewer say little about a user.
  package static let minimumAlerts = 10

  private var counts: [Kind: Counts] = [:]
  /// The kinds of the pushes that were sent, by their ids.
  private var kinds: [String: Kind] = [:]

  package init() {}

  /// Takes a row of the delivery log. Rows of a push that was sent before the first row are left out.
  package mutating func note(_ event: String, id: String, topic: String?, _ details: DeliveryDetail) {
    if event == "transmitted", let topic, topic != "summary", case .asked(let asked) = details {
      // The categories of questions exist only until the answer.
      let category = asked.category.flatMap { $0.hasPrefix(Replay.questions) ? nil : $0 }
      kinds[id] = Kind(topic: topic, category: category)
    }
    guard let kind = kinds[id] else { return }
    switch (event, details) {
    case ("presented", .presented(let parts)) where parts.contains(Part.alert.rawValue):
      counts[kind, default: Counts()].presented += 1
    case ("viewed", _), ("action", _): counts[kind, default: Counts()].viewed += 1
    case ("closed", _): counts[kind, default: Counts()].closed += 1
    default: break
    }
  }

  /// Returns the proposals for a user with these preferences, sorted by app and category. An app of which nothing is
  /// opened gets one proposal; else each of its categories may get one.
  package func advice(for preferences: Preferences) -> [Advice] {
    var apps: [String: (whole: Counts, categories: [String: Counts])] = [:]
    for (kind, use) in counts {
      ReadingSteps.add()
      apps[kind.topic, default: (Counts(), [:])].whole.add(use)
      if let category = kind.category { apps[kind.topic]?.categories[category] = use }
    }
    var proposals: [Advice] = []
    for (topic, uses) in apps {
      let app = preferences.apps[topic] ?? AppPreferences()
      // The alerts are as quiet already.
      guard app.delivery == .now, !app.provisional else { continue }
      if AlertUse.isUnopened(uses.whole) {
        proposals.append(
          Advice(topic: topic, category: nil, use: uses.whole, setting: "delivery=summary", former: "delivery=now"))
        continue
      }
      ReadingSteps.add(uses.categories.count)
      for (category, use) in uses.categories where AlertUse.isUnopened(use) {
        let permission = app.categories[category]?.permission
        guard permission != .quiet, permission != .off else { continue }
        proposals.append(
          Advice(
            topic: topic, category: category, use: use, setting: "permission=quiet",
            former: "permission=\(permission?.rawValue ?? "new")"))
      }
    }
    return proposals.sorted { ($0.topic, $0.category ?? "") < ($1.topic, $1.category ?? "") }
  }

  private static func isUnopened(_ use: Counts) -> Bool { use.presented >= minimumAlerts && use.viewed == 0 }
}

/// A proposal of a quieter preference, with its evidence. It changes nothing.
package struct Advice: Sendable, Equatable {
  package var topic: String
  /// The category; nil for the whole app.
  package var category: String?
  package var use: AlertUse.Counts
  /// The proposed preference, and the present one.
  package var setting: String
  package var former: String

  /// Returns the command that applies the proposal.
  package func command(device: String) -> String { command(setting, device) }

  /// Returns the command that restores the present preference.
  package func undo(device: String) -> String { command(former, device) }

  private func command(_ setting: String, _ device: String) -> String {
    let place = category.map { " --category \(shellWord($0))" } ?? ""
    return "pushcli prefs set --device \(shellWord(device)) --app \(shellWord(topic))\(place) \(setting)"
  }
}
