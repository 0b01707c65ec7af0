import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import HTTP2Transport
import PushCore

/// `pushcli join`: this machine becomes a device of a gateway elsewhere.
struct Join: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Become a device of a gateway elsewhere, by an invitation.",
    discussion: """
      `pushcli devices invite` on the gateway's machine makes the code. It tells this machine which gateway is the right \
      one, so nothing else is copied, and it is sent to that one alone. It may be typed in any case, with or without \
      hyphens; O is 0, I and L are 1. Without a code it is asked for. The port is 2197 unless one is named.

      Afterwards every command means that gateway; `pushcli contexts` lists those that this machine knows.

      Examples:
        pushcli join K3PM-9XQ2-7VTD-H4RC-8NWE2-Q6J5B@gateway.example:2197
        pushcli join gateway.example
        pushcli join --device laptop k3pm 9xq2 7vtd h4rc 8nwe2 q6j5b @gateway.example
      """)
  @Argument(help: "CODE@HOST:PORT, or the link of an invitation; HOST:PORT alone asks for the code.") var code: [String]
  @Option(help: "What the device is called. (this machine's name)") var device: String?
  @Option(help: "Who is to own it, where the invitation is for somebody new. (a person of the device's name)")
  var person: String?
  @Option(help: "What `pushcli contexts` calls the gateway. (its host)") var name: String?
  @OptionGroup var state: FolderOptions
  @OptionGroup var format: FormatOptions

  func run() async throws {
    let invitation = try WrittenInvitation(code.joined(separator: " "))
    let code = try invitation.code ?? WrittenInvitation.ask()
    let contexts = Contexts(try state.folder)
    let gateway = try await FirstContact(invitation.address, code.authority).connect()
    defer { gateway.client.close() }
    let known = contexts[invitation.address]
    let context = try contexts.add(
      known?.name ?? name ?? contexts.freeName(for: invitation.address), invitation.address,
      authority: gateway.authority)
    let joined: Credentials
    do {
      joined = try await enroll(gateway.client, code)
    } catch {
      if known == nil { try? contexts.remove(context.name) }
      throw error
    }
    try joined.save(in: context.folder)
    try contexts.use(context.name)
    report(joined, context)
  }

  /// Names to try: the one that was given, or this machine's, with a number where another device has it.
  private var names: [String] {
    if let device { return [device] }
    let allowed = MachineName.short.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    let base = allowed.isEmpty ? DeviceChoice.firstName : String(allowed.prefix(48))
    return [base] + (2...9).map { "\(base)-\($0)" }
  }

  private func enroll(_ client: Client, _ code: InvitationCode) async throws -> Credentials {
    struct Request: Encodable {
      var name: String
      var person: String?
      var invitation: String
    }
    var last = CommandFailure(.failed)
    for name in names {
      let body = try JSONEncoder().encode(Request(name: name, person: person, invitation: code.description))
      let answer = try await client.request("POST", "/v1/devices", body: Array(body))
      if answer.status == 201 { return try decodeJSON(Credentials.self, from: answer.body) }
      let problem = try? decodeJSON(ProblemRecord.self, from: answer.body)
      last = CommandFailure(
        CommandFailure.exit(of: answer.status), problem?.detail ?? "the gateway refused with \(answer.status)",
        status: answer.status)
      guard answer.status == 409 else { break }
      last.message += device == nil ? ": name the device with --device" : ""
    }
    throw last
  }

  private func report(_ joined: Credentials, _ context: GatewayContext) {
    if format.json {
      struct Result: Encodable {
        var gateway, context, device: String
        var person, role: String?
      }
      return Output.json(
        Result(
          gateway: context.address?.description ?? "", context: context.name, device: joined.name,
          person: joined.person, role: joined.role))
    }
    let role = joined.role.map { $0 == Role.device.rawValue ? "" : ", with the role \($0)" } ?? ""
    Output.words(
      lines: """
        joined \(context.address?.description ?? "") as \(joined.name), a device of \(joined.person ?? "its own")\(role)
        commands mean this gateway from now on, and `pushcli contexts use local` changes that
        next: pushcli subscribe --app TOPIC
        """)
  }
}

/// What a person was told: a code, and where the gateway is.
struct WrittenInvitation {
  /// nil: it was left out, to be asked for.
  let code: InvitationCode?
  let address: GatewayAddress

  /// Reads `CODE@HOST:PORT`, `https://HOST:PORT/join#CODE`, or an address alone.
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
        "this is no code of an invitation: expected 26 digits and letters, as K3PM-9XQ2-7VTD-H4RC-8NWE2-Q6J5B")
    }
    return code
  }

  /// Asks for a code, which then is in no list of processes and in no history.
  static func ask() throws(CommandFailure) -> InvitationCode {
    if isatty(STDIN_FILENO) == 1 { Output.ask("Code of the invitation: ") }
    guard let line = readLine() else { throw CommandFailure(.usage, "the code is missing: expected CODE@HOST:PORT") }
    return try read(line)
  }
}
