import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import HTTP2Transport
import PushCore

/// `pushcli join`: makes this machine a device of a remote gateway.
struct Join: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Join a remote gateway with an invitation, or subscribe to a channel with its link.",
    discussion: """
      `pushcli devices invite` on the gateway's machine creates the code. It contains the fingerprint of the \
      gateway's CA, so that no certificate has to be copied and the code is sent only to that gateway. The code of a \
      gateway with a public certificate begins with zeros: the CAs of this system verify that gateway. Case and \
      hyphens do not matter; O is 0, I and L are 1. Without a code the command reads it. The default port is 2197.

      The link of a channel (`pushcli channels share`) is used in the same way. A device of this machine at that \
      gateway then reads the channel; --device with a new name creates another device.

      Afterwards that gateway is the default one; `pushcli contexts` lists all known gateways.

      Examples:
        pushcli join K3PM-9XQ2-7VTD-H4RC-8NWE2-Q6J5B@gateway.example:2197
        pushcli join gateway.example
        pushcli join --device laptop k3pm 9xq2 7vtd h4rc 8nwe2 q6j5b @gateway.example
      """)
  @Argument(help: "CODE@HOST:PORT, or the link of an invitation; HOST:PORT alone asks for the code.") var code: [String]
  @Option(help: "The device's name. (this machine's name)") var device: String?
  @Option(help: "The name of the user, for an invitation of a new user. (the device's name)")
  var person: String?
  @Option(help: "The gateway's name in `pushcli contexts`. (its host)") var name: String?
  @OptionGroup var state: FolderOptions
  @OptionGroup var format: FormatOptions

  func run() async throws {
    let invitation = try WrittenInvitation(code.joined(separator: " "))
    let code = try invitation.code ?? WrittenInvitation.ask()
    let contexts = Contexts(try state.folder)
    let gateway = try await invitation.address.connect(trusting: code.authority)
    defer { gateway.client.close() }
    let known = contexts.known(at: invitation.address, trustedBy: gateway.authority)
    if let known, code.isShared, let reader = try reader(in: known) {
      let channel = try await join(reader, of: known, by: code)
      try contexts.use(known.name)
      return report(reader, known, channel, wasHere: true)
    }
    let context = try contexts.add(invitation.address, as: name, authority: gateway.authority)
    let (joined, channel): (Credentials, JoinedChannel?)
    do {
      (joined, channel) = try await enroll(gateway.client, code)
    } catch {
      if known == nil { try? contexts.remove(context.name) }
      throw error
    }
    try joined.save(in: context.folder)
    try contexts.use(context.name)
    report(joined, context, channel)
  }

  /// Returns the device of this machine that subscribes to a channel; nil if a new one is needed.
  private func reader(in context: GatewayContext) throws -> Credentials? {
    if let device { return try Credentials.read(device, in: context.folder) }
    let known = Credentials.names(in: context.folder)
    guard known.count <= 1 else {
      throw CommandFailure(.usage, "name the device with --device: there are \(known.joined(separator: ", "))")
    }
    return try known.first.flatMap { try Credentials.read($0, in: context.folder) }
  }

  /// Subscribes a device to the channel of a link. Its secret is sent only to the gateway that this machine already
  /// trusts, regardless of the code's origin.
  private func join(
    _ reader: Credentials, of context: GatewayContext, by code: InvitationCode
  ) async throws -> JoinedChannel {
    let admin = try await Admin(context, as: reader)
    defer { admin.close() }
    do {
      return try await admin.post("/v1/device/channels", JoinChannelRequest(invitation: code.description))
    } catch let failure as CommandFailure where failure.status == 401 {
      throw CommandFailure(
        .notAuthorized,
        "\(reader.name) is no longer known to \(context.name): name another device with --device, or forget the gateway "
          + "with `pushcli contexts remove \(context.name)`", status: 401)
    }
  }

  /// The device names to try: the given name, or this machine's name, with a number if another device has it.
  private var names: [String] {
    if let device { return [device] }
    let host = String(ProcessInfo.processInfo.hostName.prefix { $0 != "." })
    let allowed = host.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    let base = allowed.isEmpty ? DeviceChoice.firstName : String(allowed.prefix(48))
    return [base] + (2...9).map { "\(base)-\($0)" }
  }

  private func enroll(_ client: Client, _ code: InvitationCode) async throws -> (Credentials, JoinedChannel?) {
    var last = CommandFailure(.failed)
    for name in names {
      let request: [String: String?] = ["name": name, "person": person, "invitation": code.description]
      let body = try JSONEncoder().encode(request.compactMapValues(\.self))
      let answer = try await client.request("POST", "/v1/devices", body: Array(body))
      if answer.status == 201 {
        return (
          try decodeJSON(Credentials.self, from: answer.body), try decodeJSON(Enrolled.self, from: answer.body).channel
        )
      }
      last = CommandFailure(refusal: answer)
      guard answer.status == 409 else { break }
      last.message += device == nil ? ": name the device with --device" : ""
    }
    throw last
  }

  /// - Parameter wasHere: true if this machine was the device before.
  private func report(
    _ joined: Credentials, _ context: GatewayContext, _ channel: JoinedChannel?, wasHere: Bool = false
  ) {
    if format.json {
      struct Result: Encodable {
        var gateway, context, device: String
        var person, role, channel, topic: String?
        var known: Bool?
      }
      return Output.json(
        Result(
          gateway: context.address?.description ?? "", context: context.name, device: joined.name,
          person: joined.person, role: joined.role, channel: channel?.id, topic: channel?.topic, known: channel?.isKnown
        ))
    }
    let role = joined.role.map { $0 == Role.device.rawValue ? "" : ", with the role \($0)" } ?? ""
    let place = context.address?.description ?? ""
    let begun =
      wasHere
      ? "\(joined.name), which this machine is at \(place) already"
      : "joined \(place) as \(joined.name), a device of \(joined.person ?? "its own")\(role)"
    let reading = channel.map { ", reads the channel \($0.id) of \($0.topic)\($0.isKnown ? " as before" : "")" } ?? ""
    Output.words(
      lines: """
        \(begun)\(reading)
        the default gateway is \(context.name) now; `pushcli contexts use local` changes that
        next: pushcli subscribe\(channel == nil ? " --app TOPIC" : "")
        """)
  }
}

/// An invitation as a user writes it: a code, and the gateway's address.
struct WrittenInvitation {
  /// The code; nil if it was omitted and has to be asked for.
  let code: InvitationCode?
  let address: GatewayAddress

  /// Parses `CODE@HOST:PORT`, `https://HOST:PORT/join#CODE`, or an address alone.
  init(_ text: String) throws(CommandFailure) {
    let text = text.trimmingCharacters(in: .whitespaces)
    if let mark = text.lastIndex(of: "@") {
      code = try WrittenInvitation.read(String(text[..<mark]))
      address = try WrittenInvitation.address(String(text[text.index(after: mark)...]))
    } else if let mark = text.firstIndex(of: "#") {
      code = try WrittenInvitation.read(String(text[text.index(after: mark)...]))
      address = try WrittenInvitation.address(String(text[..<mark]))
    } else if InvitationCode(text) != nil {
      throw CommandFailure(.usage, "the gateway's address is missing: expected CODE@HOST:PORT")
    } else {
      code = nil
      address = try WrittenInvitation.address(text)
    }
  }

  private static func address(_ text: String) throws(CommandFailure) -> GatewayAddress {
    try GatewayAddress(text.trimmingCharacters(in: .whitespaces), defaultPort: GatewayAddress.usualPort)
  }

  private static func read(_ text: String) throws(CommandFailure) -> InvitationCode {
    guard let code = InvitationCode(text) else {
      throw CommandFailure(
        .usage,
        "this is not the code of an invitation: expected 26 digits and letters, as K3PM-9XQ2-7VTD-H4RC-8NWE2-Q6J5B")
    }
    return code
  }

  /// Asks for a code, which then appears in no process list, in no shell history and not on the screen.
  static func ask() throws(CommandFailure) -> InvitationCode {
    let line = isatty(STDIN_FILENO) == 1 ? readHiddenLine("Code of the invitation: ") : readLine()
    guard let line else { throw CommandFailure(.usage, "the code is missing: expected CODE@HOST:PORT") }
    return try read(line)
  }
}
