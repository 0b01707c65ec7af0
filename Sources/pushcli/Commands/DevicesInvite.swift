import ArgumentParser
import Foundation
import GatewayProtocol
import PushCore

extension Devices {
  /// `pushcli devices invite`: creates a code for one device.
  struct Invite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "invite", abstract: "Create a code with which one device can join from another machine.",
      discussion: """
        A machine with the code becomes a device of the named user, with all of that user's preferences; without \
        --person, of a new user. `pushcli join` accepts the code in any case and grouping. It is printed once, can be \
        used once, and is revoked after the fifth wrong try.

        --host is the name or address at which the other machine reaches this gateway; if the gateway's own \
        certificate lacks that name, a new one is issued with it. The default is the address that commands here use, \
        or this machine's name.

        Examples:
          pushcli devices invite --person ada
          pushcli devices invite --person ada --host gateway.example --qr
          pushcli devices invite --person bob --role operator --minutes 60
        """)
    @Option(help: "The device's user. (a new user)", completion: CompletionCandidates.persons) var person: String?
    @Option(help: "The device's role: device, reader, operator or admin. (device)") var role: String?
    @Option(help: "Minutes until it expires, up to a year.") var minutes = 10
    @Option(help: "HOST or HOST:PORT as the other machine reaches the gateway. (this machine's name)") var host: String?
    @Flag(help: "Also draw it as a QR code, of a link.") var qr = false
    @OptionGroup var options: AdminOptions

    func validate() throws {
      try OptionValue.check(minutes, "--minutes", 1...525_600)
      let roles = Role.invitable.map(\.rawValue)
      guard role.map(roles.contains) ?? true else {
        throw ValidationError("--role is one of \(roles.joined(separator: ", "))")
      }
    }

    func run() async throws {
      let admin = try await options.admin
      let place = try await InvitationPlace(host, at: options.state.context, admin)
      try await place.certify(admin)
      let made: CreatedInvitation = try await admin.post(
        AdminPath.invitations(), InvitationRequest(validSeconds: minutes * 60, person: person, role: role))
      if options.json { return Output.json(place.result(made, isLink: false)) }
      let words = made.person.map { "for a device of \($0)" } ?? "for a device of a new user"
      let role = made.role == Role.device.rawValue ? "" : ", with the role \(made.role)"
      try place.show(
        made.code,
        "\(words)\(role), valid once, for \(counted(minutes, "minute")); on that machine: pushcli join CODE@\(place.address), or in a "
          + "browser, with the setting web: on: \(place.link(made.code))",
        qr: qr)
    }
  }
}

/// The address of the gateway in an invitation.
struct InvitationPlace {
  let address: GatewayAddress
  /// True if other machines can reach one of the gateway's listeners.
  let isReachable: Bool

  /// - Parameter host: the host as given by the user, `HOST` or `HOST:PORT`; nil to determine it.
  init(_ host: String?, at context: GatewayContext, _ admin: Admin) async throws {
    let status: GatewayStatus = try await admin.get(AdminPath.status())
    let listeners = status.listeners.compactMap { try? GatewayAddress($0.address) }
    let open = listeners.first { !$0.isLoopback }
    isReachable = open != nil
    let port = open?.port ?? listeners.first?.port ?? GatewayAddress.usualPort
    let own = open == nil ? "localhost" : ProcessInfo.processInfo.hostName
    address =
      try host.map { try GatewayAddress($0, defaultPort: context.address?.port ?? port) }
      ?? context.address ?? GatewayAddress(host: own, port: port)
  }

  /// Adds the name to the gateway's certificate, if it lacks the name.
  func certify(_ admin: Admin) async throws {
    guard !address.isLoopback else { return }
    let isAddress = address.host.contains(":") || address.host.allSatisfy { $0.isNumber || $0 == "." }
    let request = ServerCertificateRequest(
      names: isAddress ? [] : [address.host], addresses: isAddress ? [address.host] : [], isInstalled: true, keeps: true
    )
    do {
      let _: CreatedCertificate = try await admin.post(AdminPath.serverCertificate(), request)
    } catch let failure as CommandFailure where failure.status == 409 || failure.status == 403 {
      // The invitation remains valid: a certificate of another CA can receive the name before the device joins.
      Output.words("pushcli: warning: \(failure.message)")
    }
  }

  /// The output of `--json`: an invitation or the link of a channel, and the argument of `pushcli join`.
  struct Result: Encodable {
    var invitation, id, expires, join: String
    var role, person, channel, topic: String?
    var uses: Int?
  }

  func result(_ made: CreatedInvitation, isLink: Bool) -> Result {
    var result = Result(invitation: made.code, id: made.id, expires: made.expires, join: "\(made.code)@\(address)")
    if isLink {
      (result.channel, result.topic, result.uses) = (made.channel, made.topic, made.uses)
    } else {
      (result.role, result.person) = (made.role, made.person)
    }
    return result
  }

  /// Prints the argument of `pushcli join`, and a text for the user who passes it on.
  ///
  /// - Parameter qr: true to print the link also as a QR code.
  func show(_ code: String, _ words: String, qr: Bool) throws(CommandFailure) {
    Output.data("\(code)@\(address)")
    Output.words(words)
    if let hint { Output.words(hint) }
    guard qr else { return }
    guard let lines = qrCodeLines(link(code)) else {
      throw CommandFailure(.failed, "this is too much for a QR code: name the gateway by a shorter --host")
    }
    Output.words(lines: lines.joined(separator: "\n"))
  }

  /// The link of a code, which `pushcli join` accepts, and which opens the device in a browser.
  func link(_ code: String) -> String { "https://\(address)/join#\(code)" }

  /// A note about another step before a device can join; nil if there is none.
  var hint: String? {
    if isReachable, address.isLoopback {
      return "other machines reach this one by another name: give it with --host"
    }
    guard !isReachable, !address.isLoopback else { return nil }
    return "this gateway listens on this machine alone: set `listen: 0.0.0.0:2197` before others join"
  }
}
