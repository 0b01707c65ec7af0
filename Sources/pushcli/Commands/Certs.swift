import ArgumentParser
import Foundation
import GatewayProtocol
import Glibc
import PushCore

/// `pushcli certs`: certificates of senders, and the gateway's own.
struct Certs: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "certs",
    abstract: "Client certificates of senders, and the gateway's server certificate.",
    discussion: """
      Examples:
        pushcli certs
        pushcli certs create --topic com.example.news --out ./secrets
        pushcli certs revoke 4f0ce1a97b2c8d03
        pushcli certs rollover
      """,
    subcommands: [List.self, Create.self, CreateServer.self, Revoke.self, Authority.self, RollOver.self],
    defaultSubcommand: List.self)

  struct Authority: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "authority",
      abstract: "Print the fingerprint of the gateway's certificate authority, for `contexts add` on another machine.",
      discussion: "Example:\n  pushcli certs authority")
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let status: GatewayStatus = try await options.admin.get(AdminPath.status())
      guard let authority = status.authority.map(AuthorityFingerprint.grouped) else {
        throw CommandFailure(.failed, "this gateway has an earlier version, which does not report its CA")
      }
      if options.json { return Output.json(["authority": authority]) }
      Output.data(authority)
      if status.authority == AuthorityFingerprint.ofSystem {
        Output.words(
          "the CAs of the system verify this gateway's certificate: `pushcli contexts add` needs no fingerprint")
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List senders' certificates.",
      discussion: "Example:\n  pushcli certs list --json")
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let certificates: [CertificateRecord] = try await options.admin.get(AdminPath.certificates())
      options.print(lines: certificates, ["ID", "TOPICS", "ENVIRONMENTS", "EXPIRES", "REVOKED"]) {
        [
          $0.id, $0.topics.joined(separator: " "), $0.environments.joined(separator: " "), $0.expires ?? "",
          $0.revoked ?? "no",
        ]
      }
    }
  }

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Issue a certificate for a sender, as TOPIC.pem and TOPIC.key.",
      discussion: """
        The gateway's own certificate authority issues it. The key is written once; the gateway keeps no copy.

        Examples:
          pushcli certs create --topic com.example.news --out ./secrets
          pushcli certs create --topic com.example.news --kind voip \\
            --environment production
        """)

    @Option(help: "The app's bundle id: the topic of pushes that name none.", completion: CompletionCandidates.apps)
    var topic: String
    @Option(help: "A further kind of push, such as voip or complication; repeatable.")
    var kind: [String] = []
    @Option(help: "A further topic, as it is sent; repeatable.") var also: [String] = []
    @Option(help: "development, production or both.", completion: CompletionCandidates.keyEnvironments)
    var environment = "both"
    @Option(help: "How many days it lasts, up to 3650.") var days = 365
    @Flag(help: "Also for an app that the gateway does not have.") var force = false
    @Option(help: "The folder for the two files.", completion: .directory) var out = "."
    @OptionGroup var options: AdminOptions

    func validate() throws {
      try OptionValue.check(environment, "--environment", OptionValue.keyEnvironments)
      try OptionValue.check(days, "--days", 1...3650)
    }

    func run() async throws {
      let admin = try await options.admin
      if !force, try await AppRow.known(topic, admin) == nil {
        throw CommandFailure(
          .suppressed,
          "there is no app \(topic): `pushcli apps add \(topic) --name NAME` adds it, or --force makes it all the same")
      }
      let files = try CertificateFiles(folder: out, name: topic)
      let created: CreatedCertificate = try await admin.post(
        AdminPath.certificates(),
        CertificateRequest(
          topic: topic, topics: also, kinds: kind, environment: environment == "both" ? nil : environment, days: days))
      try files.write(created)
      files.report(created, options, "certificate \(created.id) for \(topic)")
    }
  }

  struct CreateServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create-server",
      abstract: "Issue the gateway's own certificate for more names, and use it from the next connection on.",
      discussion: """
        The certificate always contains localhost, 127.0.0.1 and ::1. It also contains the names of the present \
        certificate, unless --replace is given. Without a name a new certificate for the same names is issued. With \
        --out the two files are only written, for the names that are given.

        Examples:
          pushcli certs create-server --name api.push.apple.com \\
            --name api.sandbox.push.apple.com
          pushcli certs create-server --replace --name push.example.com
        """)

    @Option(help: "A host name that senders use; repeatable.") var name: [String] = []
    @Option(help: "An address that senders use; repeatable.") var address: [String] = []
    @Flag(help: "Drop the names that the present certificate has and that are not given here.") var replace = false
    @Option(help: "Write server.pem and server.key to this folder, and leave the gateway's as they are.") var out:
      String?
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let files = try CertificateFiles(
        folder: out ?? (try options.state.folder.path), name: "server", isReplaced: out == nil)
      let created: CreatedCertificate = try await options.admin.post(
        AdminPath.serverCertificate(),
        ServerCertificateRequest(
          names: name, addresses: address, isInstalled: out == nil, keeps: out == nil && !replace))
      if out != nil { try files.write(created) }
      let names = CertificateNames(pem: Array(created.certificate.utf8)).map { $0.names + $0.addresses } ?? []
      let words = "a certificate for \(names.joined(separator: ", "))"
      // A certificate that is installed at a remote gateway has no file on this machine.
      guard out == nil, try options.state.context.isRemote else { return files.report(created, options, words) }
      options.print(["id": created.id], words: words)
    }
  }

  struct RollOver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rollover",
      abstract: "Replace the gateway's certificate authority, in two steps, before it expires.",
      discussion: """
        The first step creates the next certificate authority (CA), and devices are notified to trust both \
        (`GET /v1/authority`). Machines with a copy of ca.pem need ca-next.pem, too. When all devices and senders have it, \
        --finish lets it issue the gateway's certificate from then on. Certificates of senders that the previous CA \
        has issued stay valid.

        Examples:
          pushcli certs rollover
          pushcli certs rollover --finish
        """)

    @Flag(help: "Let the next CA issue the gateway's certificate.") var finish = false
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let record: RolloverRecord = try await options.admin.post(
        AdminPath.certificateRollover(), RolloverRequest(isLast: finish))
      if options.json { return Output.json(record) }
      let authority = record.authority ?? "none"
      guard let next = record.next else { return Output.words("the CA is \(authority) from now on") }
      Output.words(
        "the CA is \(authority), and \(next) replaces it with `pushcli certs rollover --finish`: do that when all "
          + "devices have connected, and all senders trust the next CA")
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "revoke",
      abstract: "Revoke a sender's certificate: its connections end now, and new ones are refused.",
      discussion: """
        A certificate of another CA is named by its file.

        Examples:
          pushcli certs revoke 4f0ce1a97b2c8d03
          pushcli certs revoke --file sender.pem
        """)

    @Argument(help: "Its id, as `certs list` shows it.", completion: CompletionCandidates.certificates) var id: String?
    @Option(help: "The certificate, a PEM file.", completion: .file()) var file: String?
    @OptionGroup var options: AdminOptions

    func validate() throws {
      guard (id == nil) != (file == nil) else { throw ValidationError("say which: an id, or --file CERTIFICATE") }
    }

    func run() async throws {
      let pem = try file.map { String(decoding: try readFile($0), as: UTF8.self) }
      let revoked: CertificateRecord = try await options.admin.post(
        AdminPath.certificateRevocations(), RevocationRequest(id: id, certificate: pem))
      options.print(revoked, words: "revoked certificate \(revoked.id)")
    }
  }
}

/// The paths to which a certificate and its key are written.
private struct CertificateFiles {
  let certificate, key: String

  /// - Throws: ``CommandFailure`` if the files can't be written there, before a certificate is issued.
  init(folder: String, name: String, isReplaced: Bool = false) throws {
    (certificate, key) = ("\(folder)/\(name).pem", "\(folder)/\(name).key")
    guard !isReplaced else { return }
    try makeSecretsFolder(folder)
    for path in [certificate, key] where FileManager.default.fileExists(atPath: path) {
      throw CommandFailure(.failed, "\(path) is there already: move it away, or name another folder with --out")
    }
  }

  func write(_ created: CreatedCertificate) throws {
    do {
      try PrivateFile.replace(key, with: Array(created.key.utf8))
      try PrivateFile.replace(certificate, with: Array(created.certificate.utf8), mode: 0o644)
    } catch {
      throw CommandFailure(.failed, "\(certificate) can't be written (\(error)): try again with another --out")
    }
  }

  func report(_ created: CreatedCertificate, _ format: some OutputForm, _ words: String) {
    if format.json { return Output.json(["certificate": certificate, "id": created.id, "key": key]) }
    Output.data(certificate)
    Output.data(key)
    Output.words(words)
  }
}
