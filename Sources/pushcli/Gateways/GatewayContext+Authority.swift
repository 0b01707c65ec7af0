import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

extension GatewayContext {
  /// The maximum size in bytes of a list of CA certificates.
  private static let maximumAuthoritySize = 64 << 10

  /// Asks a remote gateway for the CA certificates to trust from now on. They are stored only if they also verify the
  /// gateway. A gateway with a certificate of another CA lists a CA that signs only certificates of senders.
  ///
  /// - Returns: true if the stored list has changed.
  @discardableResult
  func refreshAuthority() async throws -> Bool {
    guard let address, let present = FileManager.default.contents(atPath: folder.trustPath) else { return false }
    let client = try await Client.connect(
      to: .tls(host: address.host, port: address.port, trustPath: trustPath, remedy: remedy))
    defer { client.close() }
    let answer = try await client.request("GET", "/v1/authority")
    guard answer.status == 200, answer.body.count <= GatewayContext.maximumAuthoritySize, answer.body != Array(present)
    else { return false }
    let draft = folder.path + "/ca-told.pem"
    defer { try? FileManager.default.removeItem(atPath: draft) }
    try PrivateFile.replace(draft, with: answer.body)
    do {
      try await Client.connect(to: .tls(host: address.host, port: address.port, trustPath: draft)).close()
    } catch let error as ClientError where error.isPermanent {
      return false
    }
    try PrivateFile.replace(folder.trustPath, with: answer.body)
    return true
  }
}
