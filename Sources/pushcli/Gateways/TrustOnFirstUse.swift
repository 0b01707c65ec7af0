import Foundation
import GatewayClient
import GatewayProtocol
import HTTP2Transport
import PushCore

/// A first connection to a gateway of which only its authority's fingerprint is known, or that it has a public certificate.
struct TrustOnFirstUse {
  private let address: GatewayAddress
  private let fingerprint: String?

  /// - Parameter fingerprint: nil or ``AuthorityFingerprint/ofSystem``: this system has to trust the gateway's certificate. A code
  ///   with another fingerprint never falls back to that: its gateway has a CA of its own, which no public CA may replace.
  init(_ address: GatewayAddress, _ fingerprint: String?) {
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
    guard let fingerprint, fingerprint != AuthorityFingerprint.ofSystem else { return try await connectTrusted() }
    let pin = AuthorityPin(fingerprint)
    do {
      let client = try await Client.connect(to: .pinned(host: address.host, port: address.port, pin))
      return Gateway(client: client, authority: await isTrustedBySystem() ? nil : pin.certificatePEM)
    } catch let error as ClientError {
      guard case .untrusted = error.kind, let other = pin.otherAuthority else { throw CommandFailure(error) }
      throw CommandFailure(
        .unreachable,
        "\(address) is not the gateway of this code: its authority is \(AuthorityFingerprint.grouped(other)), the code's "
          + "\(AuthorityFingerprint.grouped(fingerprint)); was it mistyped, or does somebody else answer there? Nothing was sent"
      )
    }
  }

  private func connectTrusted() async throws -> Gateway {
    let path = SystemTrust.path
    do {
      let client = try await Client.connect(to: .tls(host: address.host, port: address.port, trustPath: path))
      return Gateway(client: client, authority: nil)
    } catch let error as ClientError {
      guard error.isPermanent else { throw CommandFailure(error) }
      guard fingerprint == nil else {
        throw CommandFailure(
          .unreachable,
          "\(error); the CAs of this system have to verify this gateway: check the host name, and install or update the package "
            + "ca-certificates. Nothing was sent")
      }
      throw CommandFailure(
        .unreachable,
        "this system does not trust the certificate of \(address): name its authority, as "
          + "`pushcli contexts add F85D-P90X-EWQC-C6B1@\(address)`; `pushcli certs authority` there tells it")
    }
  }

  /// Whether the gateway's certificate is one that this system trusts anyway, and will when it is renewed.
  private func isTrustedBySystem() async -> Bool {
    let path = SystemTrust.path
    guard FileManager.default.isReadableFile(atPath: path),
      let client = try? await Client.connect(to: .tls(host: address.host, port: address.port, trustPath: path))
    else { return false }
    client.close()
    return true
  }
}
