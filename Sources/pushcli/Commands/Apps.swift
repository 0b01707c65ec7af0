import ArgumentParser
import GatewayProtocol

/// `pushcli apps`: what may be pushed to.
struct Apps: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Apps: what may be pushed to.",
    subcommands: [List.self, Add.self, Change.self, Category.self], defaultSubcommand: List.self)

  /// An app as it is printed.
  struct Record: Codable {
    var topic, name, icon, policyMode, ads: String
    var strict: Bool
    enum CodingKeys: String, CodingKey {
      case topic, name, icon, strict, ads
      case policyMode = "policy_mode"
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List apps.")
    @OptionGroup var state: StateOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      let apps: [Record] = try await Admin(state).get("/admin/v1/apps")
      if format.json { return Output.json(lines: apps) }
      Output.table(
        ["TOPIC", "NAME", "ICON", "POLICY", "STRICT", "ADS"],
        apps.map { [$0.topic, $0.name, $0.icon, $0.policyMode, $0.strict ? "yes" : "no", $0.ads] })
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Add an app, or change one.",
      discussion: """
        Example:
          pushcli apps add com.example.trains --name Trains --icon 🚆
        """)
    @Argument(help: "The bundle id, which senders name as the topic.") var topic: String
    @Option(help: "What people see.") var name: String
    @Option(help: "One emoji or two letters. (the name's initials)") var icon: String?
    @Option(help: "enforce: a push that breaks a rule is refused; report: it is only logged. (enforce)")
    var policy: String?
    @Flag(
      inversion: .prefixedNo,
      help: "Refuse payloads whose aps has keys of a wrong type, instead of reporting them. (no)")
    var strict: Bool?
    @Option(help: Apps.adsHelp) var ads: String?
    @OptionGroup var state: StateOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
      guard policy.map({ ["enforce", "report"].contains($0) }) ?? true else {
        throw ValidationError("--policy is enforce or report")
      }
      try Apps.checkAds(ads)
    }

    func run() async throws {
      let app: Record = try await Admin(state).post(
        "/admin/v1/apps", AppRequest(topic: topic, name: name, icon: icon, policyMode: policy, strict: strict, ads: ads)
      )
      if format.json { Output.json(app) } else { Output.words("added \(app.icon) \(app.name), \(app.topic)") }
    }
  }

  /// Changes what is known of an app, all but what is not named.
  struct Change: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Change an app.",
      discussion: """
        Example:
          pushcli apps set com.example.shop --ads hold
        """)
    @Argument(help: "The app's topic.") var topic: String
    @Option(help: Apps.adsHelp) var ads: String
    @OptionGroup var state: StateOptions
    @OptionGroup var format: FormatOptions

    func validate() throws { try Apps.checkAds(ads) }

    func run() async throws {
      let admin = try await Admin(state)
      let apps: [Record] = try await admin.get("/admin/v1/apps")
      guard let known = apps.first(where: { $0.topic == topic }) else {
        throw CommandFailure(.failed, "there is no app \(topic): `pushcli apps` shows them")
      }
      let app: Record = try await admin.post(
        "/admin/v1/apps", AppRequest(topic: topic, name: known.name, icon: nil, policyMode: nil, ads: ads))
      if format.json { Output.json(app) } else { Output.words("\(app.topic): ads \(app.ads)") }
    }
  }

  fileprivate static let adsHelp: ArgumentHelp = """
    What becomes of alerts that advertise: off (nobody looks), report (only logged), hold (only for people who allow \
    advertising), refuse (held, or refused where it is plain). (refuse)
    """

  fileprivate static func checkAds(_ mode: String?) throws {
    guard mode.map({ ["off", "report", "hold", "refuse"].contains($0) }) ?? true else {
      throw ValidationError("--ads is off, report, hold or refuse")
    }
  }
}
