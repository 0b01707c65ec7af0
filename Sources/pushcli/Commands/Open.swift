import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

/// `pushcli open`: opens a page of the gateway in a browser, with a link for one use.
struct Open: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Open the device in a browser, or the console, with a link for one use.",
    discussion: """
      Prints a link that is valid for a minute, and opens it if this machine has a desktop.

      phone: a browser on this machine that opens the link becomes a device. Its user is the one of --person, \
      otherwise the user of this machine's only device, otherwise a new user. Browsers on other machines join by \
      `pushcli devices invite`, with the setting web: on.

      console: the browser that opens the link gets the permissions of this command: of the admin socket on this machine, \
      or of `pushcli login` for another gateway.

      Examples:
        pushcli open
        pushcli open --person ada
        pushcli open console
        pushcli open console --gateway push.example.org:2197
      """)

  enum Page: String, ExpressibleByArgument, CaseIterable { case phone, console }

  @Argument(help: "phone, to receive pushes, or console, to administer the gateway.") var page = Page.phone
  @Option(help: "The device's user. (the user of this machine's device)", completion: CompletionCandidates.persons)
  var person: String?
  @OptionGroup var options: AdminOptions

  /// The lifetime of the link of the phone in seconds.
  private static let validity = 60

  func validate() throws {
    guard person == nil || page == .phone else { throw ValidationError("--person is for phone, not for console") }
  }

  func run() async throws {
    let admin = try await options.admin
    let origin = try await origin(admin)
    let (link, expires): (String, String)
    switch page {
    case .phone:
      let owner = try person ?? ownPerson
      let made: CreatedInvitation = try await admin.post(
        AdminPath.invitations(), InvitationRequest(validSeconds: Open.validity, person: owner))
      (link, expires) = ("\(origin)/phone#\(made.code)", made.expires)
    case .console:
      let made: CreatedConsoleLink = try await admin.post(AdminPath.consoleLinks(), [String: String]())
      (link, expires) = ("\(origin)/console#\(made.code)", made.expires)
    }
    if options.json { return Output.json(["link": link, "expires": expires]) }
    Output.data(link)
    let place = try isElsewhere ? "" : " on this machine"
    Output.words("for one browser\(place), within a minute")
    Open.openBrowser(link)
  }

  /// True for the console of another machine's gateway.
  private var isElsewhere: Bool { get throws { try page == .console && options.state.context.isRemote } }

  /// Returns the scheme, the host and the port of the link: over HTTP for the gateway of this machine.
  private func origin(_ admin: Admin) async throws -> String {
    if try isElsewhere, let address = try options.state.context.address { return "https://\(address)" }
    let status: GatewayStatus = try await admin.get(AdminPath.status())
    // Entries with TLS do not serve the pages.
    let plain = (status.http ?? []).filter { !$0.hasPrefix("https://") }
    let ports = plain.compactMap { try? GatewayAddress($0) }.filter(\.isLoopback).map(\.port)
    guard let port = ports.first else {
      throw CommandFailure(.failed, "no HTTP/1.1 on this machine: set `http_listen: auto`, and `web` to loopback or on")
    }
    return "http://pushgateway.localhost:\(port)"
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
