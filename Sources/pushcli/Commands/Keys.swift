import ArgumentParser
import Foundation
import GatewayProtocol
import Glibc
import PushCore
import PushPolicy

/// `pushcli keys`: the keys that sign provider tokens.
struct Keys: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Keys with which senders sign their provider tokens.",
    discussion: """
      Examples:
        pushcli keys
        pushcli keys create --team A1B2C3D4E5 --out ./secrets
        pushcli keys token --key AuthKey_ABC123DEFG.p8 --team A1B2C3D4E5
        pushcli keys remove ABC123DEFG
      """,
    subcommands: [List.self, Create.self, Import.self, Token.self, Remove.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List keys.",
      discussion: "Example:\n  pushcli keys list --json")
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.printList(
        AdminPath.keys(), part, options, name: "key_id", header: ["KEY", "TEAM", "ENVIRONMENT", "TOPICS"]
      ) { row in
        [
          row["key_id"]?.string ?? "", row["team_id"]?.string ?? "", row["environment"]?.string ?? "",
          row["topics"]?.joinedTexts ?? "all",
        ]
      }
    }
  }

  /// The properties of a new key.
  struct Properties: ParsableArguments {
    @Option(help: "The team, 10 characters.", completion: CompletionCandidates.teams) var team: String
    @Option(help: "development, production or both.", completion: CompletionCandidates.keyEnvironments)
    var environment = "both"
    @Option(help: "A topic that the key is for; repeatable. (all)", completion: CompletionCandidates.apps) var topic:
      [String] = []
    @Option(
      help: "The other key of a rotation, for keys with topics: one connection may use the tokens of both.",
      completion: CompletionCandidates.keys)
    var related: String?

    func validate() throws { try OptionValue.check(environment, "--environment", OptionValue.keyEnvironments) }

    func request(id: String? = nil, pem: String? = nil) -> KeyRequest {
      KeyRequest(
        team: team, environment: environment == "both" ? nil : environment, topics: topic, related: related, id: id,
        pem: pem)
    }
  }

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Create a key and write its private half to AuthKey_<KEYID>.p8.",
      discussion: """
        The private half is written once and kept nowhere else.

        Example:
          pushcli keys create --team A1B2C3D4E5 --out ./secrets
        """)

    @OptionGroup var properties: Properties
    @Option(help: "The folder for the .p8 file.", completion: .directory) var out = "."
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try makeSecretsFolder(out)
      let created: CreatedKey = try await options.admin.post(AdminPath.keys(), properties.request())
      let path = "\(out)/AuthKey_\(created.id).p8"
      do {
        try PrivateFile.create(Array((created.privateKey ?? "").utf8), at: path)
      } catch {
        throw CommandFailure(
          .failed, "\(path) can't be written (\(error)): remove the key and try again with another --out")
      }
      if options.json {
        Output.json(["key_id": created.id, "team_id": created.team, "path": path])
      } else {
        Output.data(path)
        Output.words("key \(created.id) of team \(created.team)")
      }
    }
  }

  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import", abstract: "Accept an existing key of a sender; only its public half is stored.",
      discussion: """
        Examples:
          pushcli keys import AuthKey_ABC123DEFG.p8 --team A1B2C3D4E5
          pushcli keys import - --key-id ABC123DEFG --team A1B2C3D4E5 \\
            < AuthKey_ABC123DEFG.p8
        """)

    @Argument(help: "The .p8 file, or the public key in PEM, or - for standard input.", completion: .file())
    var file: String
    @OptionGroup var properties: Properties
    @Option(help: "The key's id. (from the file's name, AuthKey_<KEYID>.p8)") var keyID: String?
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let pem = try readFile(file)
      let name = file.split(separator: "/").last.map(String.init) ?? file
      let named = name.hasPrefix("AuthKey_") ? String(name.dropFirst(8).prefix(10)) : nil
      guard let id = keyID ?? named else {
        throw CommandFailure(
          .usage, "--key-id is missing: the name \(name) does not contain it, as AuthKey_KEYID.p8 does")
      }
      let created: CreatedKey = try await options.admin.post(
        AdminPath.keys(), properties.request(id: id, pem: String(decoding: pem, as: UTF8.self)))
      options.print(
        ["key_id": created.id, "team_id": created.team], words: "key \(created.id) of team \(created.team)")
    }
  }

  struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "token", abstract: "Print a provider token (JWT, ES256), signed with a key.",
      discussion: """
        The token is the value of the request field `authorization: bearer TOKEN`. It is valid for one hour. Use one
        token for all pushes of at least 20 minutes: the gateway refuses a new token for each push on one connection.
        The command reads the key's file and sends nothing.

        Examples:
          TOKEN=$(pushcli keys token)
          pushcli keys token --key AuthKey_ABC123DEFG.p8 --team A1B2C3D4E5
        """)

    @OptionGroup var signing: SigningOptions
    @OptionGroup var state: LocalOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
      let folder = try state.folder
      if signing.key == nil { try FolderOptions().checkPermission(of: folder.developmentPath, mode: R_OK) }
      let development = folder.development
      let signer = try ProviderTokenSigner(signing, development: development)
      let token = try signer.token(now: Int(Date().timeIntervalSince1970))
      format.print(["token": token], data: token)
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a key: its tokens are refused from now on.",
      discussion: "Example:\n  pushcli keys remove ABC123DEFG")
    @Argument(help: "The key's id, 10 characters.", completion: CompletionCandidates.keys) var key: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.key(key))
      options.print(["removed": key], words: "removed key \(key)")
    }
  }
}

/// Makes a folder that the user names for keys, accessible to its owner only, if it does not exist.
///
/// - Throws: ``CommandFailure`` if the folder can't be written, before anything is made that would be lost.
func makeSecretsFolder(_ path: String) throws(CommandFailure) {
  if unsafe access(path, F_OK) != 0 { try? PrivateFile.createFolder(path) }
  guard unsafe access(path, W_OK | X_OK) == 0 else {
    throw CommandFailure(.failed, "this user can't write to the folder \(path): name another one with --out")
  }
}
