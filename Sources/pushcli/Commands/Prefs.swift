import ArgumentParser
import PushGateway
import PushPolicy

/// `pushcli prefs`: what a person lets through.
struct Prefs: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Preferences: what a person lets through.",
    subcommands: [Show.self, Set.self], defaultSubcommand: Show.self)

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the choices of a device's person.")
    @Option(help: "The device's name.") var device: String
    @OptionGroup var state: StateOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      let preferences: Preferences = try await Admin(state).get("/admin/v1/devices/\(pathPart(device))/preferences")
      show(preferences, json: format.json)
    }
  }

  struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Change choices, for everything, for an app, or for a category of an app.",
      discussion: """
        Examples:
          pushcli prefs set --device me notifications=off
          pushcli prefs set --device me --app com.example.news alert=off sound=on
          pushcli prefs set --device me --app com.example.news --category SPORT alert=off badge=inherit
        """)
    @Option(help: "The device's name.") var device: String
    @Option(help: "The app's topic. (everything)") var app: String?
    @Option(help: "The app's category. (the whole app)") var category: String?
    @Argument(help: "notifications, badge, sound or alert, =on, =off, or in a category =inherit.")
    var settings: [String]
    @OptionGroup var state: StateOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      let preferences: Preferences = try await Admin(state).post(
        "/admin/v1/devices/\(pathPart(device))/preferences",
        PreferencesRequest(settings: settings, app: app, category: category))
      show(preferences, json: format.json)
    }
  }
}

private func show(_ preferences: Preferences, json: Bool) {
  if json { return Output.json(preferences) }
  func word(_ isOn: Bool?) -> String { isOn.map { $0 ? "on" : "off" } ?? "inherit" }
  var rows = [
    [
      "everything", word(preferences.notifications), word(preferences.parts.badge), word(preferences.parts.sound),
      word(preferences.parts.alert),
    ]
  ]
  for (topic, app) in preferences.apps.sorted(by: { $0.key < $1.key }) {
    rows.append([topic, word(app.notifications), word(app.parts.badge), word(app.parts.sound), word(app.parts.alert)])
    for (name, category) in app.categories.sorted(by: { $0.key < $1.key }) {
      rows.append(["  " + name, "", word(category.badge), word(category.sound), word(category.alert)])
    }
  }
  Output.table(["FOR", "NOTIFICATIONS", "BADGE", "SOUND", "ALERT"], rows)
}
