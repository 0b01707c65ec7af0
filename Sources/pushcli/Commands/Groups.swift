import ArgumentParser
import GatewayProtocol
import PushPolicy

/// `pushcli groups`: groups of users that receive the same pushes through one device token.
struct Groups: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "groups", abstract: "Groups of users: one push to all members, and the first answer counts for all.",
    discussion: """
      A group has a device token of its own for each app. A push to it goes to every device of every member that is \
      registered for the app at that time, and each member's preferences apply.

      Examples:
        pushcli groups add ops ann bob
        pushcli groups register ops com.example.ops
        pushcli send --to ops/com.example.ops --title "Disk Full"
        pushcli ask --to ops/com.example.ops --title "Restart?" --action yes=Restart
        pushcli groups show ops
        pushcli groups remove ops bob
      """,
    subcommands: [List.self, Show.self, Add.self, Remove.self, Register.self, Unregister.self],
    defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List groups, in the order of their names.",
      discussion: "Example:\n  pushcli groups list --json")
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.printList(
        AdminPath.groups(), part, options, header: ["GROUP", "MEMBERS", "APPS"]
      ) { row in
        [row["name"]?.string ?? "", String(row["members"]?.integer ?? 0), row["topics"]?.joinedTexts ?? ""]
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show a group's members with their devices, and its tokens.",
      discussion: "Example:\n  pushcli groups show ops")
    @Argument(help: "The group.", completion: CompletionCandidates.groups) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let group: GroupRecord = try await options.admin.get(AdminPath.group(name))
      if options.json { return Output.json(group) }
      var members = TableWriter(["MEMBER", "DEVICES"])
      Output.data(lines: members.lines(of: group.members.map { [$0.person, $0.devices.joined(separator: " ")] }))
      var tokens = TableWriter(["APP", "ENVIRONMENT", "TOKEN"])
      Output.data(lines: tokens.lines(of: group.registrations.map { [$0.topic, $0.environment, $0.token] }))
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Create a group, or add members to it.",
      discussion: "Example:\n  pushcli groups add ops ann bob")
    @Argument(help: "The group.", completion: CompletionCandidates.groups) var name: String
    @Argument(help: "The users.", completion: CompletionCandidates.persons) var persons: [String] = []
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let group: GroupRecord = try await options.admin.post(
        AdminPath.groups(), GroupRequest(name: name, members: persons))
      options.print(group, words: "\(name) has \(group.members.map(\.person).joined(separator: ", "))")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove members of a group; without any, the group itself.",
      discussion: """
        The tokens of a group that is removed answer 410 Unregistered from then on.

        Examples:
          pushcli groups remove ops bob
          pushcli groups remove ops
        """)
    @Argument(help: "The group.", completion: CompletionCandidates.groups) var name: String
    @Argument(help: "The users to remove. (the whole group)", completion: CompletionCandidates.persons) var persons:
      [String] = []
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let admin = try await options.admin
      for person in persons { try await admin.delete(AdminPath.groupMember(name, person)) }
      if persons.isEmpty { try await admin.delete(AdminPath.group(name)) }
      options.print(
        ["group": [name], "removed": persons.isEmpty ? [name] : persons],
        words: persons.isEmpty ? "removed \(name)" : "removed \(persons.joined(separator: ", ")) from \(name)")
    }
  }

  struct Register: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "register", abstract: "Register a group for an app; prints its device token.",
      discussion: "Example:\n  pushcli groups register ops com.example.ops")
    @Argument(help: "The group.", completion: CompletionCandidates.groups) var name: String
    @Argument(help: "The app's topic.", completion: CompletionCandidates.apps) var topic: String
    @Option(help: "development or production. (the gateway's)", completion: CompletionCandidates.environments)
    var environment: String?
    @OptionGroup var options: AdminOptions

    func validate() throws {
      try OptionValue.check(environment, "--environment", OptionValue.environments)
    }

    func run() async throws {
      let registration = try await options.admin.register(
        AdminPath.groupRegistrations(name),
        RegistrationRequest(topic: topic, environment: environment), at: options.gateway)
      options.print(registration, data: registration.token)
    }
  }

  struct Unregister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unregister", abstract: "End a group's registration: its token answers 410 Unregistered.",
      discussion: "Example:\n  pushcli groups unregister ops com.example.ops")
    @Argument(help: "The group.", completion: CompletionCandidates.groups) var name: String
    @Argument(help: "The app's topic.", completion: CompletionCandidates.apps) var topic: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.groupRegistration(name, topic))
      options.print(["unregistered": name, "topic": topic], words: "unregistered \(name) from \(topic)")
    }
  }
}
