import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import PushCore

/// `pushcli attachment`: writes the attachment of a message.
struct AttachmentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attachment", abstract: "Write the attachment of a message to standard output or to a file.",
    discussion: """
      The id is in the payload of the push, as `pushcli subscribe --json` prints it: attachment.id. The gateway keeps an \
      attachment for a day.

      Examples:
        pushcli attachment 5b1e0c94d7a3428f90c6e1ab2d4f7a80 --output report.txt
        pushcli attachment 5b1e0c94d7a3428f90c6e1ab2d4f7a80 | less
      """)
  @Argument(help: "The id of the attachment.") var id: String
  @Option(help: "The file to create. (standard output)", completion: .file()) var output: String?
  @Flag(help: "Replace the file if there is one.") var force = false
  @Option(
    help: "The recipient device; its secret must be on this machine. (the only one here)",
    completion: CompletionCandidates.devices) var device: String?
  @OptionGroup var options: AdminOptions

  func validate() throws {
    guard AttachmentReference.isID(id) else {
      throw ValidationError("invalid id of an attachment: expected 32 hex digits, as in attachment.id of the payload")
    }
    guard output != nil || !force else { throw ValidationError("--force needs --output FILE") }
  }

  func run() async throws {
    guard output != nil || isatty(STDOUT_FILENO) == 0 else {
      throw CommandFailure(.usage, "standard output is a terminal: add --output FILE, or write to a pipe or a file")
    }
    // Checked before the request, which can take time.
    if let output, !force, FileManager.default.fileExists(atPath: output) { throw AttachmentCommand.taken(output) }
    let access = try await DeviceAccess(device, options.state)
    guard let own = try Credentials.read(access.name, in: try options.state.folder) else {
      throw CommandFailure(
        .suppressed, "the secret of \(access.name) is not on this machine: run this command where the device is")
    }
    let content = try await access.admin.bytes("\(AttachmentReference.path)\(id)", secret: own.secret)
    guard let output else { return try AttachmentCommand.pass(content) }
    do {
      if force {
        try PrivateFile.replace(output, with: content)
      } else {
        try PrivateFile.create(content, at: output)
      }
    } catch {
      throw error.code == EEXIST
        ? AttachmentCommand.taken(output) : CommandFailure(.failed, "\(output) can't be written: \(error)")
    }
    options.print(["file": output], words: "wrote \(counted(content.count, "byte")) to \(output)")
  }

  private static func pass(_ content: [UInt8]) throws {
    guard let error = Output.pass(content[...], to: STDOUT_FILENO), error != EPIPE else { return }
    throw CommandFailure(.failed, "standard output can't be written: \(SystemError(error))")
  }

  private static func taken(_ path: String) -> CommandFailure {
    CommandFailure(.failed, "\(path) is there already: add --force to replace it, or name another file")
  }
}
