import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

/// `pushcli open`: makes a browser on this machine a device, with a link.
struct Open: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Open the device in a browser on this machine, with a link for one use.",
    discussion: """
      Prints a link that ends after a minute, and opens it where a desktop runs. The browser that opens it becomes a \
      device of the named user; without --person, of the user of this machine's only device, else of a new user. \
      Browsers on other machines join by `pushcli devices invite`, with the setting web: on.

      Examples:
        pushcli open
        pushcli open --person ada
      """)
  @Option(help: "The device's user. (the user of this machine's device)", completion: CompletionCandidates.persons)
  var person: String?
  @OptionGroup var options: AdminOptions

  /// The lifetime of the link in seconds.
  private static let validity = 60

  func run() async throws {
    let admin = try await options.admin
    let status: GatewayStatus = try await admin.get(AdminPath.status())
    let ports = (status.http ?? []).compactMap { try? GatewayAddress($0) }.filter(\.isLoopback).map(\.port)
    guard let port = ports.first else {
      throw CommandFailure(.failed, "no HTTP/1.1 on this machine: set `http_listen: auto`, and `web` to loopback or on")
    }
    let owner = try person ?? ownPerson
    let made: CreatedInvitation = try await admin.post(
      AdminPath.invitations(), InvitationRequest(validSeconds: Open.validity, person: owner))
    let link = "http://pushgateway.localhost:\(port)/phone#\(made.code)"
    if options.json { return Output.json(["link": link, "expires": made.expires]) }
    Output.data(link)
    Output.words("for one browser on this machine, within a minute")
    Open.openBrowser(link)
  }

  /// The user of this machine's device at the gateway, if there is exactly one device.
  private var ownPerson: String? {
    get throws {
      let folder = try options.state.context.folder
      let names = Credentials.names(in: folder)
      guard names.count == 1 else { return nil }
      return try Credentials.read(names[0], in: folder)?.person
    }
  }

  /// Opens a link where a desktop runs. Without one, the link is printed only.
  private static func openBrowser(_ link: String) {
    let variables = ProcessInfo.processInfo.environment
    guard variables["DISPLAY"] != nil || variables["WAYLAND_DISPLAY"] != nil else { return }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/xdg-open")
    process.arguments = [link]
    try? process.run()
  }
}
