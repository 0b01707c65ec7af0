import ArgumentParser
import GatewayProtocol
import PushPolicy

/// `pushcli prefs`: the preferences of a user.
struct Prefs: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefs", abstract: "Preferences: which pushes may alert, badge or sound, and when.",
    discussion: """
      Examples:
        pushcli prefs --device me
        pushcli prefs set --device me --app com.example.news alert=off sound=on
        pushcli prefs set --device me "quiet=22:00-07:00"
        pushcli prefs advise --device me
      """,
    subcommands: [Show.self, Set.self, Advise.self], defaultSubcommand: Show.self)

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show the preferences that apply to a device.",
      discussion: "Example:\n  pushcli prefs show --device me")
    @Option(help: "The device's name. (the only one here)", completion: CompletionCandidates.devices) var device:
      String?
    @OptionGroup var options: AdminOptions

    func run() async throws {
      show(try await DeviceAccess(device, options.state).preferences(), json: options.json)
    }
  }

  struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Change preferences for everything, for an app, or for a category of an app.",
      discussion: """
        Examples:
          pushcli prefs set --device me notifications=off
          pushcli prefs set --device me --app com.example.news alert=off sound=on
          pushcli prefs set --device me --app com.example.news --category SPORT \\
            alert=off badge=inherit
          pushcli prefs set --device me --app com.example.news \\
            delivery=summary time-sensitive=on budget=5
          pushcli prefs set --device me \\
            "quiet=22:00-07:00 mon-fri Europe/Berlin; 23:00-10:00 sat,sun"
          pushcli prefs set --device me \\
            focus.work=com.example.mail,com.example.chat summary=08:00,18:00

        For everything: \(Preference.summary(of: .everything)).
        For an app: \(Preference.summary(of: .app)).
        For a category: \(Preference.summary(of: .category)).
        """)
    @Option(help: "The device's name. (the only one here)", completion: CompletionCandidates.devices) var device:
      String?
    @Option(help: "The app's topic. (everything)", completion: CompletionCandidates.apps) var app: String?
    @Option(help: "The app's category. (the whole app)", completion: CompletionCandidates.categories) var category:
      String?
    @Argument(
      help: "Preferences as name=value, such as badge=off; the list is above.", completion: CompletionCandidates.choices
    )
    var settings: [String]
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let access = try await DeviceAccess(device, options.state)
      let request = PreferencesRequest(settings: settings, app: app, category: category)
      show(try await access.change(request), json: options.json)
    }
  }
}

private func show(_ preferences: Preferences, json: Bool) {
  if json { return Output.json(preferences) }
  let columns = ["notifications"] + Part.allCases.map(\.rawValue)
  func row(_ name: String, _ choices: [EffectivePreference]) -> [String] {
    let switches = columns.map { column in choices.first { $0.name == column }?.value ?? "" }
    return [name] + switches + [choices.compactMap(\.remark).joined(separator: ", ")]
  }
  var rows = [row("everything", preferences.choices)]
  for (topic, app) in preferences.apps.sorted(by: { $0.key < $1.key }) {
    rows.append(row(topic, app.choices))
    for (name, category) in app.categories.sorted(by: { $0.key < $1.key }) {
      rows.append(row("  " + name, category.choices))
    }
  }
  Output.table(["FOR"] + columns.map { $0.uppercased() } + ["ALSO"], rows)
  Output.data("")
  for choice in preferences.choices where !columns.contains(choice.name) && !choice.isForgotten {
    Output.data("\(choice.label): \(choice.value)")
  }
}

extension Preference {
  /// Returns the preferences of a scope with their values; consecutive ones with the same values are listed together.
  fileprivate static func summary(of scope: Scope) -> String {
    var groups: [(names: [String], values: String)] = []
    for choice in choices(of: scope) {
      let values = (choice.values(in: scope) ?? "").filter { $0 != "`" }
      if groups.last?.values == values {
        groups[groups.count - 1].names.append(choice.listedName)
      } else {
        groups.append(([choice.listedName], values))
      }
    }
    return groups.map { "\($0.names.joined(separator: ", ")) (\($0.values))" }.joined(separator: ", ")
  }
}
