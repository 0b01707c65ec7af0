import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

extension GatewayContext {
  /// Bytes of a list of authorities: a handful of certificates.
  private static let maximumAuthoritySize = 64 << 10

  /// Asks a gateway elsewhere which authorities to trust from now on. What it tells is kept where it proves the gateway, too:
  /// one that shows a certificate from elsewhere tells of an authority that signs only senders'.
  ///
  /// - Returns: whether something has changed.
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
