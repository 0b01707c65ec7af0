import Foundation
package import GatewayProtocol
import PushCore
package import PushPolicy
import Synchronization

/// The reports and requests of the user.
extension DeviceSession {
  /// Reports the parts of a push that were presented.
  package func presented(_ id: String, _ parts: [Part]) {
    if let id = APNSID(id) { send(.presented(id: id, parts: parts)) }
  }

  /// Sends the user's answer to a push. The caller repeats it until ``DeviceEvent/answered`` arrives.
  ///
  /// - Returns: false when no confirmation will arrive: the gateway has an earlier version, or the id is invalid.
  package func answer(_ id: String, _ action: String) -> Bool {
    guard let id = APNSID(id) else { return false }
    send(.answer(id: id, action: action))
    return confirmsAnswers.withLock { $0 }
  }

  /// Sends the silent switch and the Focus, now and at every reconnect; an empty Focus means none.
  package func set(silent isSilent: Bool, focus: String) {
    circumstances.withLock { $0 = (isSilent, focus) }
    send(.state(isSilent: isSilent, focus: focus.isEmpty ? .off : .on(focus)))
  }

  /// Changes preferences at the gateway, which sends them to every device of the user.
  ///
  /// - Throws: ``ClientError`` with a text for the user.
  package func change(_ request: PreferencesRequest) async throws {
    try await post("/v1/device/preferences", request, otherwise: "the preferences can't be saved now")
  }

  /// Reports a push as an advertisement.
  ///
  /// - Throws: ``ClientError`` with a text for the user.
  package func report(_ ad: AdReportRequest) async throws {
    try await post("/v1/device/ads/reports", ad, otherwise: "it can't be reported now")
  }

  /// Reads the attachment of a message.
  ///
  /// - Throws: ``ClientError`` with a text for the user.
  package func attachment(_ id: String) async throws -> [UInt8] {
    guard let link = link.withLock({ $0 }) else {
      throw ClientError(.unreachable, "not connected: the attachment can't be read now")
    }
    let answer = try await link.get(AttachmentReference.path + id)
    guard answer.status < 300 else { throw answer.refusal }
    return answer.body
  }

  private func post(_ path: String, _ body: some Encodable, otherwise words: String) async throws {
    guard let link = link.withLock({ $0 }) else { throw ClientError(.unreachable, "not connected: \(words)") }
    let answer = try await link.post(path, Array(try JSONEncoder().encode(body)))
    guard answer.status < 300 else { throw answer.refusal }
  }
}
