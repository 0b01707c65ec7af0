import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import HTTP2Transport
import PushCore

/// `pushcli login`: administers a remote gateway.
struct Login: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Administer a remote gateway from this machine, with a token.",
    discussion: """
      `pushcli admin tokens create` on the gateway's machine creates the token, and the gateway accepts it with the \
      setting remote_admin: on. The token is read from standard input or a file, not from an argument, and stored in \
      the state folder, readable by this user. It contains the fingerprint of the gateway's CA and is sent only to \
      that gateway.

      Afterwards that gateway is the default one for all commands that the token's role allows; `pushcli contexts \
      remove NAME` removes it.

      Examples:
        pushcli login gateway.example:2197
        pushcli login gateway.example --token-file token.txt
      """)
  @Argument(help: "HOST:PORT of the gateway, or an https URL; the port is 2197 unless one is named.") var gateway:
    String
  @Option(help: "A file with the token. (standard input)", completion: .file()) var tokenFile: String?
  @Option(help: "The gateway's name in `pushcli contexts`. (its host)") var name: String?
  @OptionGroup var state: FolderOptions
  @OptionGroup var format: FormatOptions

  func run() async throws {
    let address = try GatewayAddress(gateway, defaultPort: GatewayAddress.usualPort)
    let token = try self.token()
    guard let fingerprint = Login.authority(of: token) else {
      throw CommandFailure(
        .usage, "this is not the token of an administrator: expected pga-…, as `pushcli admin tokens create` prints it")
    }
    let gateway = try await address.connect(trusting: fingerprint)
    defer { gateway.client.close() }
    let answer = try await gateway.client.request(
      "GET", AdminPath.status(), [(.authorization, "Bearer " + token)])
    guard answer.status == 200 else { throw CommandFailure(refusal: answer) }
    let contexts = Contexts(try state.folder)
    let context = try contexts.add(address, as: name, authority: gateway.authority)
    try context.folder.saveLogin(token: token)
    try contexts.use(context.name)
    if format.json { return Output.json(["gateway": address.description, "context": context.name]) }
    Output.words(
      lines: """
        logged in to \(address)
        the default gateway is \(context.name) now; `pushcli contexts use local` changes that
        """)
  }

  /// Returns the token without a line end.
  private func token() throws(CommandFailure) -> String {
    if let tokenFile {
      guard let data = contents(ofFile: tokenFile) else {
        throw CommandFailure(.usage, "\(tokenFile) can't be read: \(UnreadableFile.reason(of: tokenFile))")
      }
      return String(decoding: data.prefix(1024), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
    let line = isatty(STDIN_FILENO) == 1 ? readHiddenLine("Token: ") : readLine()
    guard let line, !line.isEmpty else {
      throw CommandFailure(.usage, "the token is missing: expected it on standard input, or in --token-file FILE")
    }
    return line.trimmingCharacters(in: .whitespaces)
  }

  /// Returns the fingerprint in `pga-FFFFFFFFFFFFFFFF-SECRET`; nil for any other text.
  static func authority(of token: String) -> String? {
    let parts = token.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "pga", parts[1].utf8.count == AuthorityFingerprint.count else { return nil }
    return String(parts[1])
  }
}
