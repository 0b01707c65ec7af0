import ArgumentParser
import GatewayProtocol
import PushPolicy

extension Channels {
  /// `pushcli channels share`: creates a link to a channel.
  struct Share: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "share", abstract: "Create a link with which several people can subscribe to a channel.",
      discussion: """
        Everybody with the link can read the channel: `pushcli join` makes the machine a device of a new user that \
        has no other role, or subscribes the device that the machine already has. The link is printed once. `channels \
        shares` lists the links, and `channels unshare` revokes one; joined devices stay subscribed.

        --host is how other machines reach this gateway, as for `pushcli devices invite`.

        Examples:
          pushcli channels share 3pCzY5mgVQJ1bQ8WAm0LQQ== --host gateway.example
          pushcli channels share 3pCzY5mgVQJ1bQ8WAm0LQQ== --days 7 --uses 20 --qr
        """)
    @Argument(help: "The channel's id.", completion: CompletionCandidates.channels) var channel: String
    @Option(help: "Days until it expires, up to 365.") var days = 30
    @Option(help: "How many devices may use it, from 2 to 1000000.") var uses = 1000
    @Option(help: "HOST or HOST:PORT as other machines reach the gateway. (this machine's name)") var host: String?
    @Flag(help: "Also draw it as a QR code.") var qr = false
    @OptionGroup var options: AdminOptions

    func validate() throws {
      try OptionValue.check(days, "--days", 1...365)
      try OptionValue.check(uses, "--uses", 2...1_000_000)
    }

    func run() async throws {
      let admin = try await options.admin
      let place = try await InvitationPlace(host, at: options.state.context, admin)
      try await place.certify(admin)
      let made: CreatedInvitation = try await admin.post(
        AdminPath.channelShares(channel), ShareRequest(validSeconds: days * 86_400, uses: uses))
      if options.json { return Output.json(place.result(made, isLink: true)) }
      try place.show(
        made.code,
        "for \(made.topic ?? "its app"), \(counted(made.uses, "device")), within \(counted(days, "day")); there: "
          + "pushcli join CODE@\(place.address)", qr: qr)
    }
  }

  struct Shares: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "shares", abstract: "List the valid links of channels.",
      discussion: "Their codes are not kept.\n\nExample:\n  pushcli channels shares --json")
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.printList(
        AdminPath.shares(), part, options, name: "id", header: ["ID", "CHANNEL", "APP", "USES LEFT", "EXPIRES"]
      ) { row in
        [
          row["id"]?.string ?? "", row["channel"]?.string ?? "", row["topic"]?.string ?? "",
          String(row["uses"]?.integer ?? 0), row["expires"]?.string ?? "",
        ]
      }
    }
  }

  struct Unshare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unshare", abstract: "Revoke a link. Devices that have joined with it stay subscribed.",
      discussion: "Example:\n  pushcli channels unshare 3f0c9a1be2d45577")
    @Argument(help: "The link's id, as `channels shares` lists it.", completion: CompletionCandidates.shares) var id:
      String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.share(id))
      options.print(["withdrawn": id], words: "took back link \(id)")
    }
  }
}
