import ArgumentParser
import GatewayProtocol
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
          pushcli prefs set --device me --app com.example.news delivery=summary time-sensitive=on budget=5
          pushcli prefs set --device me "quiet=22:00-07:00 mon-fri Europe/Berlin; 23:00-10:00 sat,sun"
          pushcli prefs set --device me focus.work=com.example.mail,com.example.chat summary=08:00,18:00

        For everything: notifications, badge, sound, alert (on, off), quiet (windows with ; between them, or off), \
        summary (times), focus.NAME (the topics it lets through with commas between them, none, or off to forget it).
        For an app: notifications, badge, sound, alert, time-sensitive, critical (on, off), advertising (allow, \
        refuse), delivery (now, summary), budget (alerts an hour, or none), provisional (on, keep).
        For a category: badge, sound, alert (on, off, inherit).
        """)
    @Option(help: "The device's name.") var device: String
    @Option(help: "The app's topic. (everything)") var app: String?
    @Option(help: "The app's category. (the whole app)") var category: String?
    @Argument(help: "Choices as name=value, such as badge=off; the list is above.")
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
      word(preferences.parts.alert), "",
    ]
  ]
  for (topic, app) in preferences.apps.sorted(by: { $0.key < $1.key }) {
    rows.append([
      topic, word(app.notifications), word(app.parts.badge), word(app.parts.sound), word(app.parts.alert),
      app.furtherWords,
    ])
    for (name, category) in app.categories.sorted(by: { $0.key < $1.key }) {
      rows.append(["  " + name, "", word(category.badge), word(category.sound), word(category.alert), ""])
    }
  }
  Output.table(["FOR", "NOTIFICATIONS", "BADGE", "SOUND", "ALERT", "ALSO"], rows)
  let quiet = preferences.quietHours.map(\.description).joined(separator: "; ")
  Output.data("")
  Output.data("quiet hours: \(quiet.isEmpty ? "off" : quiet)")
  Output.data("summary: \(preferences.summary)")
  for (name, topics) in preferences.focuses.sorted(by: { $0.key < $1.key }) {
    Output.data("focus \(name): \(topics.isEmpty ? "none" : topics.sorted().joined(separator: ", "))")
  }
}

extension AppPreferences {
  /// What is not as usual, besides the switches.
  fileprivate var furtherWords: String {
    var words: [String] = []
    if provisional { words.append("provisional") }
    if delivery == .summary { words.append("in the summary") }
    if let alertBudget { words.append("\(alertBudget) alerts an hour") }
    if timeSensitive { words.append("time-sensitive") }
    if critical { words.append("critical") }
    if advertising { words.append("advertising") }
    return words.joined(separator: ", ")
  }
}
