import Foundation
import GatewayClient
import HTTP2Transport
import PushCore

/// A first connection to a gateway of which only its authority's fingerprint is known.
struct FirstContact {
  private let address: GatewayAddress
  private let fingerprint: String

  init(_ address: GatewayAddress, _ fingerprint: String) {
    (self.address, self.fingerprint) = (address, fingerprint)
  }

  /// A gateway that has proved to be the right one.
  struct Gateway {
    let client: Client
    /// The certificate to trust from now on; nil: the system trusts the gateway's already.
    let authority: [UInt8]?
  }

  /// - Throws: ``CommandFailure``, also when somebody else answers there; nothing was sent to them.
  func connect() async throws -> Gateway {
    let pin = AuthorityPin(fingerprint)
    do {
      let client = try await Client.connect(to: .pinned(host: address.host, port: address.port, pin))
      return Gateway(client: client, authority: await isTrustedBySystem() ? nil : pin.certificatePEM)
    } catch let error as ClientError {
      guard case .untrusted = error.kind, let other = pin.otherAuthority else { throw CommandFailure(error) }
      throw CommandFailure(
        .unreachable,
        "\(address) is not the gateway of this code: its authority is \(FirstContact.grouped(other)), the code's "
          + "\(FirstContact.grouped(fingerprint)); was it mistyped, or does somebody else answer there? Nothing was sent"
      )
    }
  }

  /// Whether the gateway's certificate is one that this system trusts anyway, and will when it is renewed.
  private func isTrustedBySystem() async -> Bool {
    let path = GatewayContext.systemTrustPath
    guard FileManager.default.isReadableFile(atPath: path),
      let client = try? await Client.connect(to: .tls(host: address.host, port: address.port, trustPath: path))
    else { return false }
    client.close()
    return true
  }

  private static func grouped(_ text: String) -> String {
    stride(from: 0, to: text.count, by: 4).map { String(text.dropFirst($0).prefix(4)) }.joined(separator: "-")
  }
}
