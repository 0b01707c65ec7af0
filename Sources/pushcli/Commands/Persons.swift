import ArgumentParser
import GatewayClient
import GatewayProtocol
import PushPolicy

/// `pushcli persons`: the owners of devices and preferences.
struct Persons: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "persons", abstract: "Users: the owners of devices and preferences.",
    discussion: """
      Examples:
        pushcli persons
        pushcli persons rename ada "Ada Lovelace"
        pushcli persons remove ada
      """,
    subcommands: [List.self, Rename.self, Remove.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List users by name.",
      discussion: "Example:\n  pushcli persons list --filter ann")
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.printList(AdminPath.persons(), part, options, header: ["PERSON", "DEVICES"]) { row in
        [row["name"]?.string ?? "", row["devices"]?.joinedTexts ?? ""]
      }
    }
  }

  struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rename", abstract: "Rename a user.",
      discussion: "Example:\n  pushcli persons rename ada \"Ada Lovelace\"")
    @Argument(help: "The user.", completion: CompletionCandidates.persons) var person: String
    @Argument(help: "The new name.") var name: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let renamed: PersonRecord = try await options.admin.post(
        AdminPath.personName(person), PersonRequest(name: name))
      options.print(renamed, words: "\(person) is \(renamed.name) now")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a user with all their devices, preferences and pushes.",
      discussion: """
        Devices, preferences, pending texts, reports of advertising and the rows of the delivery log are erased; open \
        streams end. Backups that were made before still contain them.

        Example:
          pushcli persons remove ada
        """)
    @Argument(help: "The user.", completion: CompletionCandidates.persons) var person: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let admin = try await options.admin
      let devices = (try await admin.get(AdminPath.person(person)) as PersonRecord).devices
      try await admin.delete(AdminPath.person(person))
      let folder = try options.state.folder
      for device in devices { Credentials.remove(device, from: folder) }
      options.print(["removed": person], words: "removed \(person)")
    }
  }
}
