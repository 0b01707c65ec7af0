import ArgumentParser
import GatewayClient
import GatewayProtocol
import PushCore
import PushPolicy

/// `pushcli devices`: the devices that receive pushes.
struct Devices: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "Devices: the terminals that receive pushes.",
    discussion: """
      Examples:
        pushcli devices
        pushcli devices enroll me
        pushcli devices register me com.example.news
        pushcli devices invite --person ada
      """,
    subcommands: [
      List.self, Enroll.self, Remove.self, Rotate.self, Register.self, Unregister.self, Invite.self, Invitations.self,
      Uninvite.self,
    ], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List devices, in the order of their names.",
      discussion: """
        Examples:
          pushcli devices list --filter laptop
          pushcli devices list --json | head -5
        """)
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.printList(
        AdminPath.devices(), part, options, header: ["NAME", "PERSON", "CONNECTED", "LAST SEEN", "WAITING", "APPS"]
      ) { row in
        let isConnected = (row["streams"]?.integer ?? 0) > 0
        return [
          row["name"]?.string ?? "", row["person"]?.string ?? "", isConnected ? "yes" : "no",
          isConnected ? "now" : row["last_seen"]?.string ?? "never", String(row["waiting"]?.integer ?? 0),
          List.apps(of: row),
        ]
      }
    }

    /// Returns the apps of a device; an app that is registered in both environments is followed by these.
    private static func apps(of row: JSONElement) -> String {
      guard let registrations = row["registrations"] else { return row["apps"]?.joinedTexts ?? "" }
      var texts: [String] = []
      registrations.forEachElement { one in
        let environments = one["environments"]?.joinedTexts ?? ""
        texts.append((one["topic"]?.string ?? "") + (environments.contains(" ") ? " (\(environments))" : ""))
      }
      return texts.joined(separator: " ")
    }
  }

  struct Enroll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "enroll", abstract: "Enroll a device; its secret is kept in the state folder for `subscribe`.",
      discussion: "Example:\n  pushcli devices enroll me", aliases: ["enrol"])
    @Argument(help: "The device's name.") var name: String
    @Option(
      help: "Its user: the devices of one user share their preferences. (a new user)",
      completion: CompletionCandidates.persons)
    var person: String?
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let credentials = try await Credentials.enroll(name, person: person, state: options.state)
      options.print(credentials, words: "enrolled \(name)")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Remove a device: its streams end, its secret is revoked, its tokens answer 410.",
      discussion: """
        Its pending pushes are deleted. Its user stays, with the preferences: `persons remove` removes both.

        Example:
          pushcli devices remove laptop
        """)
    @Argument(help: "The device's name.", completion: CompletionCandidates.devices) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.device(name))
      Credentials.remove(name, from: try options.state.folder)
      options.print(["removed": name], words: "removed \(name)")
    }
  }

  struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rotate",
      abstract: "Give a device a new secret: its streams end, and the old secret is revoked.",
      discussion: """
        A device of this machine reads the new secret from the state folder and reconnects automatically; for other \
        devices the secret is printed, once.

        Example:
          pushcli devices rotate laptop
        """)
    @Argument(help: "The device's name.", completion: CompletionCandidates.devices) var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let isHere = (try? Credentials.read(name, in: options.state.folder)) != nil
      let credentials: Credentials = try await options.admin.post(
        AdminPath.deviceSecret(name), [String: String]())
      if isHere { try credentials.save(in: options.state.folder) }
      if options.json { return Output.json(credentials) }
      if isHere { return Output.words("\(name) has another secret, which is in the state folder") }
      Output.data(credentials.secret)
    }
  }

  struct Register: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "register",
      abstract: "Register a device for an app and print the device token that senders address.",
      discussion: "Example:\n  pushcli devices register me com.example.news")
    @Argument(help: "The device's name.", completion: CompletionCandidates.devices) var name: String
    @Argument(help: "The app's topic.", completion: CompletionCandidates.apps) var topic: String
    @Option(help: "development or production. (the gateway's)", completion: CompletionCandidates.environments)
    var environment: String?
    @Option(help: "Seconds until the token expires and answers 410 ExpiredToken. (no end)")
    var validFor: Int?
    @OptionGroup var options: AdminOptions

    func validate() throws {
      try OptionValue.check(environment, "--environment", OptionValue.environments)
      try OptionValue.check(validFor, "--valid-for", 0...315_360_000)
    }

    func run() async throws {
      let registration = try await options.admin.register(
        AdminPath.registrations(name),
        RegistrationRequest(topic: topic, environment: environment, validSeconds: validFor), at: options.gateway)
      options.print(registration, data: registration.token)
    }
  }

  struct Unregister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unregister", abstract: "End a registration: its token answers 410 Unregistered from now on.",
      discussion: "Example:\n  pushcli devices unregister me com.example.news")
    @Argument(help: "The device's name.", completion: CompletionCandidates.devices) var name: String
    @Argument(help: "The app's topic.", completion: CompletionCandidates.apps) var topic: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.registration(name, topic))
      options.print(["unregistered": name, "topic": topic], words: "unregistered \(name) from \(topic)")
    }
  }

  struct Invitations: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "invitations", abstract: "List the valid invitations, and the links of channels.",
      discussion: "`pushcli channels shares` lists the links alone.\n\nExample:\n  pushcli devices invitations")
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.printList(
        AdminPath.invitations(), part, options, name: "id",
        header: ["ID", "PERSON", "ROLE", "USES", "EXPIRES", "CHANNEL"]
      ) { row in
        [
          row["id"]?.string ?? "", row["person"]?.string ?? "(new)", row["role"]?.string ?? "",
          String(row["uses"]?.integer ?? 1), row["expires"]?.string ?? "", row["channel"]?.string ?? "",
        ]
      }
    }
  }

  struct Uninvite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "uninvite", abstract: "Revoke an invitation.",
      discussion: "Example:\n  pushcli devices uninvite 3f0c9a1be2d45577")
    @Argument(
      help: "The invitation's id, as `devices invitations` lists it.", completion: CompletionCandidates.invitations)
    var id: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.invitation(id))
      options.print(["withdrawn": id], words: "withdrew invitation \(id)")
    }
  }
}
