import Foundation
import GatewayClient
import PushCore

extension GatewayOptions {
  /// A function that sends a push that the user writes on the phone, as `pushcli send` does with the same state folder;
  /// nil if the state folder has no readable sender's key.
  var pushSending: PushSending? {
    guard let folder = try? state.folder, let key = folder.development?.keyPath,
      FileManager.default.isReadableFile(atPath: key)
    else { return nil }
    return { try await send($0) }
  }

  /// Sends the push and returns a confirmation for the user.
  ///
  /// - Throws: ``CommandFailure`` with the reason if it was refused or could not be sent.
  private func send(_ draft: PushDraft) async throws -> String {
    let content = PayloadContent(
      title: draft.title.isEmpty ? nil : draft.title, body: draft.body.isEmpty ? nil : draft.body)
    let push = ProviderPush(to: "\(draft.device)/\(draft.topic)", content: content, gateway: self)
    let answer = try await push.delivered()
    guard answer.status == 200 else {
      let refusal = ProviderRefusal(answer)
      let reason = refusal.map { [$0.reason, $0.policy?.message].compactMap(\.self).joined(separator: ", ") }
      throw CommandFailure(
        .refused, "refused with \(answer.status): \(reason ?? "the gateway gives no reason")")
    }
    return "Sent to \(draft.device)"
  }
}
