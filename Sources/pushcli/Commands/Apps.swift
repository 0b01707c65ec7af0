import ArgumentParser
import GatewayProtocol
import PushPolicy

/// `pushcli apps`: the apps that accept pushes.
struct Apps: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apps", abstract: "Apps that accept pushes.",
    discussion: """
      Examples:
        pushcli apps
        pushcli apps add com.example.trains --name Trains --icon 🚆
        pushcli apps set com.example.trains --ads hold
        pushcli apps remove com.example.trains
        pushcli apps category com.example.builds DEPLOY \\
          --action approve=Approve --action reject=Reject!
      """,
    subcommands: [List.self, Add.self, Change.self, Remove.self, Category.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List apps.",
      discussion: "Example:\n  pushcli apps list --filter news")
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let admin = try await options.admin
      var isAnyOpen = false
      try await admin.printList(
        AdminPath.apps(), part, options, name: "topic",
        header: ["TOPIC", "NAME", "ICON", "TEAM", "POLICY", "STRICT", "ADS"]
      ) { row in
        let team = row["team_id"]?.string
        if team == nil { isAnyOpen = true }
        return [
          row["topic"]?.string ?? "", row["name"]?.string ?? "", row["icon"]?.string ?? "", team ?? "any",
          row["policy_mode"]?.string ?? "", row["strict"]?.boolean == true ? "yes" : "no", row["ads"]?.string ?? "",
        ]
      }
      if options.json { return }
      let teams: [TeamRecord] = try await admin.get(AdminPath.teams())
      guard teams.count > 1, isAnyOpen else { return }
      Output.words(
        "The keys of every team reach apps of any team: `pushcli apps set TOPIC --team TEAMID` gives one away.")
    }
  }

  /// The properties of an app other than its topic and its name.
  struct Properties: ParsableArguments {
    @Option(help: "One emoji or two letters. (the name's initials)") var icon: String?
    @Option(help: "The team whose keys may push to it. (the only one)", completion: CompletionCandidates.teams)
    var team: String?
    @Option(help: "enforce: a push that breaks a rule is refused; report: it is only logged. (enforce)")
    var policy: String?
    @Flag(
      inversion: .prefixedNo,
      help: "Refuse payloads whose aps has keys of a wrong type, instead of reporting them. (no)")
    var strict: Bool?
    @Option(help: Apps.adsHelp) var ads: String?
    @Option(
      help: """
        Pushes of a category that is new from now on: quiet, in the notification center only until the recipient has \
        chosen; show, as the others. (show)
        """)
    var newCategories: String?

    func validate() throws {
      try OptionValue.check(policy, "--policy", ["enforce", "report"])
      try OptionValue.check(ads, "--ads", ["off", "report", "hold", "refuse"])
      try OptionValue.check(newCategories, "--new-categories", ["quiet", "show"])
    }

    /// True if no property is given.
    var isEmpty: Bool { [icon, team, policy, ads, newCategories].allSatisfy { $0 == nil } && strict == nil }

    func request(topic: String, name: String) -> AppRequest {
      AppRequest(
        topic: topic, name: name, icon: icon, policyMode: policy, strict: strict, ads: ads, team: team,
        newCategories: newCategories)
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add an app, or change one.",
      discussion: """
        If there are several teams, a new app needs --team: keys of other teams are refused with TopicDisallowed.

        Examples:
          pushcli apps add com.example.trains --name Trains --icon 🚆
          pushcli apps add com.example.shop --name Shop --team A1B2C3D4E5
        """)
    @Argument(help: "The bundle id, which senders name as the topic.") var topic: String
    @Option(help: "The name on devices. (existing app: unchanged)") var name: String?
    @OptionGroup var properties: Properties
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let admin = try await options.admin
      let known = try await AppRow.known(topic, admin)
      guard let name = name ?? known?.name else {
        throw CommandFailure(.usage, "--name is missing: what people see of \(topic)")
      }
      let app: AppRow = try await admin.post(AdminPath.apps(), properties.request(topic: topic, name: name))
      let done = known == nil ? "added" : "changed"
      options.print(app, words: "\(done) \(app.name), \(app.topic), with the icon \(app.icon)")
    }
  }

  /// Changes the given properties of an app, and keeps the others.
  struct Change: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Change an app.",
      discussion: """
        Examples:
          pushcli apps set com.example.shop --ads hold
          pushcli apps set com.example.shop --team A1B2C3D4E5
        """)
    @Argument(help: "The app's topic.", completion: CompletionCandidates.apps) var topic: String
    @Option(help: "The name on devices.") var name: String?
    @OptionGroup var properties: Properties
    @OptionGroup var options: AdminOptions

    func validate() throws {
      if name == nil, properties.isEmpty { throw ValidationError("say what to change, such as --ads hold") }
    }

    func run() async throws {
      let admin = try await options.admin
      let known = try await AppRow.named(topic, admin)
      let app: AppRow = try await admin.post(
        AdminPath.apps(), properties.request(topic: topic, name: name ?? known.name))
      options.print(
        app,
        words: "\(app.topic): \(app.icon) \(app.name), team \(app.team ?? "any"), policy \(app.policyMode), "
          + "strict \(app.strict ? "yes" : "no"), ads \(app.ads)")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove an app; an app with registrations requires --yes.",
      discussion: """
        Registrations, channels, pending and scheduled pushes, categories and preferences of the app go with it. A push \
        to one of its device tokens is answered 400 BadDeviceToken from then on.

        Examples:
          pushcli apps remove com.example.trains
          pushcli apps remove com.example.trains --yes
        """)
    @Argument(help: "The app's topic.", completion: CompletionCandidates.apps) var topic: String
    @Flag(help: "Remove its registrations, channels and scheduled pushes, too.") var yes = false
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let admin = try await options.admin
      _ = try await AppRow.named(topic, admin)
      try await admin.delete(AdminPath.app(topic) + (yes ? "?force=true" : ""))
      options.print(["removed": topic], words: "removed \(topic)")
    }
  }

  fileprivate static let adsHelp: ArgumentHelp = """
    Alerts that advertise are: off, not examined; report, logged; hold, delivered without alert and sound; \
    refuse, as hold when suspected, and refused when certain. (refuse)
    """
}
