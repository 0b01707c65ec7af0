import ArgumentParser
import GatewayClient
import GatewayProtocol

/// `pushcli devices`: who receives.
struct Devices: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Devices: the terminals that receive.",
    subcommands: [List.self, Enroll.self, Register.self, Unregister.self, Invite.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List devices.")
    @OptionGroup var state: StateOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      let devices: [DeviceRecord] = try await Admin(state).get("/admin/v1/devices")
      if format.json { return Output.json(lines: devices) }
      Output.table(
        ["NAME", "PERSON", "CONNECTED", "WAITING", "APPS"],
        devices.map {
          [$0.name, $0.person, $0.streams > 0 ? "yes" : "no", String($0.waiting), $0.apps.joined(separator: " ")]
        })
    }
  }

  struct Enroll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Enroll a device; its secret is kept in the state folder for `subscribe`.",
      discussion: "Example:\n  pushcli devices enroll me", aliases: ["enrol"])
    @Argument(help: "The device's name.") var name: String
    @Option(help: "Who owns it: devices of one person share their choices. (a person of its own)") var person: String?
    @OptionGroup var state: StateOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      let credentials = try await Credentials.enroll(name, person: person, state: state)
      if format.json { Output.json(credentials) } else { Output.words("enrolled \(name)") }
    }
  }

  struct Register: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Register a device for an app and print the device token that senders address.",
      discussion: "Example:\n  pushcli devices register me com.example.news")
    @Argument(help: "The device's name.") var name: String
    @Argument(help: "The app's topic.") var topic: String
    @Option(help: "development or production. (the gateway's)") var environment: String?
    @Option(help: "How many seconds the token is good for; then it answers 410 ExpiredToken. (for ever)")
    var validFor: Int?
    @OptionGroup var state: StateOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
      guard environment.map({ ["development", "production"].contains($0) }) ?? true else {
        throw ValidationError("--environment is development or production")
      }
      try OptionRange.check(validFor, "--valid-for", 0...315_360_000)
    }

    func run() async throws {
      let registration: RegistrationRecord = try await Admin(state).post(
        "/admin/v1/devices/\(pathPart(name))/registrations",
        RegistrationRequest(topic: topic, environment: environment, validSeconds: validFor))
      if format.json { Output.json(registration) } else { Output.data(registration.token) }
    }
  }

  struct Unregister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "End a registration: its token answers 410 Unregistered from now on.")
    @Argument(help: "The device's name.") var name: String
    @Argument(help: "The app's topic.") var topic: String
    @OptionGroup var state: StateOptions

    func run() async throws {
      try await Admin(state).delete("/admin/v1/devices/\(pathPart(name))/registrations/\(pathPart(topic))")
      Output.words("unregistered \(name) from \(topic)")
    }
  }

  struct Invite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a code with which one device can enroll from another machine.")
    @Option(help: "How long it is good for, in minutes, up to a year.") var minutes = 60
    @OptionGroup var state: StateOptions
    @OptionGroup var format: FormatOptions

    func validate() throws { try OptionRange.check(minutes, "--minutes", 1...525_600) }

    func run() async throws {
      let answer: [String: String] = try await Admin(state).post(
        "/admin/v1/invitations", InvitationRequest(validSeconds: minutes * 60))
      if format.json { Output.json(answer) } else { Output.data(answer["invitation"] ?? "") }
    }
  }
}
