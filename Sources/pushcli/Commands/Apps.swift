import ArgumentParser
import PushGateway

/// `pushcli apps`: what may be pushed to.
struct Apps: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Apps: what may be pushed to.",
    subcommands: [List.self, Add.self, Category.self], defaultSubcommand: List.self)

  /// An app as it is printed.
  struct Record: Codable {
    var topic, name, icon, policyMode: String
    var strict: Bool
    enum CodingKeys: String, CodingKey {
      case topic, name, icon, strict
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
        ["TOPIC", "NAME", "ICON", "POLICY", "STRICT"],
        apps.map { [$0.topic, $0.name, $0.icon, $0.policyMode, $0.strict ? "yes" : "no"] })
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
    @OptionGroup var state: StateOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
      guard policy.map({ ["enforce", "report"].contains($0) }) ?? true else {
        throw ValidationError("--policy is enforce or report")
      }
    }

    func run() async throws {
      let app: Record = try await Admin(state).post(
        "/admin/v1/apps", AppRequest(topic: topic, name: name, icon: icon, policyMode: policy, strict: strict))
      if format.json { Output.json(app) } else { Output.words("added \(app.icon) \(app.name), \(app.topic)") }
    }
  }
}
