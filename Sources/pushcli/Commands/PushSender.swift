import ArgumentParser
import Foundation
import GatewayClient
import PushCore

/// Sends a push that the user writes on the phone, as `pushcli send` does with the same state folder.
struct PushSender: Sendable {
  private let options: [String]

  /// Makes a sender; nil if the state folder has no readable sender's key.
  init?(_ gateway: GatewayOptions) {
    guard let folder = try? gateway.state.folder, let key = Development.read(folder)?.keyPath,
      FileManager.default.isReadableFile(atPath: key)
    else { return nil }
    var options: [String] = []
    if let address = gateway.gateway { options += ["--gateway", address] }
    if let trust = gateway.trustPath { options += ["--ca", trust] }
    if let state = gateway.state.state { options += ["--state", state] }
    self.options = options
  }

  var sending: PushSending { { try await send($0) } }

  /// Sends the push and returns a confirmation for the user.
  ///
  /// - Throws: ``CommandFailure`` with the reason if it was refused or could not be sent.
  func send(_ draft: PushDraft) async throws -> String {
    var arguments = ["--to", "\(draft.device)/\(draft.topic)"]
    if !draft.title.isEmpty { arguments.append("--title=\(draft.title)") }
    if !draft.body.isEmpty { arguments.append("--body=\(draft.body)") }
    let answer = try await Send.parse(arguments + options).delivered()
    guard answer.status == 200 else {
      throw CommandFailure(.refused, "refused with \(answer.status): \(PushSender.reason(answer.body))")
    }
    return "Sent to \(draft.device)"
  }

  private static func reason(_ body: [UInt8]) -> String {
    struct Refusal: Decodable {
      struct Policy: Decodable { var message: String }
      var reason: String
      var policy: Policy?
    }
    guard let refusal = try? decodeJSON(Refusal.self, from: body) else { return "the gateway gives no reason" }
    return [refusal.reason, refusal.policy?.message].compactMap(\.self).joined(separator: ", ")
  }
}
