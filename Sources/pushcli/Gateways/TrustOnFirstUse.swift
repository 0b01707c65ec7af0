import Foundation
import GatewayClient
import GatewayProtocol
import HTTP2Transport
import PushCore

/// A first connection to a gateway of which only the fingerprint of its CA is known, or that has a public certificate.
struct TrustOnFirstUse {
  private let address: GatewayAddress
  private let fingerprint: String?

  /// - Parameter fingerprint: nil or ``AuthorityFingerprint/ofSystem`` if this system has to trust the gateway's
  ///   certificate. A code with another fingerprint never falls back to that: its gateway has its own CA, which no
  ///   public CA may replace.
  init(_ address: GatewayAddress, _ fingerprint: String?) {
    (self.address, self.fingerprint) = (address, fingerprint)
  }

  /// A gateway whose identity is verified.
  struct Gateway {
    let client: Client
    /// The certificate to trust from now on; nil if the system already trusts the gateway's certificate.
    let authority: [UInt8]?
  }

  /// - Throws: ``CommandFailure``, also if another server answers there; nothing was sent to that server.
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
        "\(address) is not the gateway of this code: its CA is \(AuthorityFingerprint.grouped(other)), the code's "
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
        "this system does not trust the certificate of \(address): name its CA, as "
          + "`pushcli contexts add F85D-P90X-EWQC-C6B1@\(address)`; `pushcli certs authority` there prints it")
    }
  }

  /// Returns true if this system trusts the gateway's certificate without the pin, and therefore also its renewals.
  private func isTrustedBySystem() async -> Bool {
    let path = SystemTrust.path
    guard FileManager.default.isReadableFile(atPath: path),
      let client = try? await Client.connect(to: .tls(host: address.host, port: address.port, trustPath: path))
    else { return false }
    client.close()
    return true
  }
}
