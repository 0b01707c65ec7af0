import Foundation
import GatewayClient
import GatewayProtocol
import HTTP2Transport
import PushCore

extension GatewayAddress {
  /// Connects for the first time to a gateway of which only the fingerprint of its CA is known, or that has a public
  /// certificate.
  ///
  /// - Parameter fingerprint: nil or ``AuthorityFingerprint/ofSystem`` if this system has to trust the gateway's
  ///   certificate. A code with another fingerprint never falls back to that: its gateway has its own CA, which no
  ///   public CA may replace.
  /// - Returns: the connection, and the certificate to trust from now on; nil if the system already trusts the gateway's
  ///   certificate.
  /// - Throws: ``CommandFailure``, also if another server answers there; nothing was sent to that server.
  func connect(trusting fingerprint: String?) async throws -> (client: Client, authority: [UInt8]?) {
    let isPublic = fingerprint == AuthorityFingerprint.ofSystem
    guard let fingerprint, !isPublic else { return (try await connectTrustedBySystem(isPublic: isPublic), nil) }
    let pin = AuthorityPin(fingerprint)
    do {
      let client = try await Client.connect(to: .pinned(host: host, port: port, pin))
      return (client, await isTrustedBySystem() ? nil : pin.certificatePEM)
    } catch let error as ClientError {
      guard case .untrusted = error.kind, let other = pin.otherAuthority else { throw CommandFailure(error) }
      throw CommandFailure(
        .unreachable,
        "\(self) is not the gateway of this code: its CA is \(AuthorityFingerprint.grouped(other)), the code's "
          + "\(AuthorityFingerprint.grouped(fingerprint)); the code was mistyped, or another server answers at this address. Nothing was sent"
      )
    }
  }

  /// - Parameter isPublic: true if the gateway is known to have a public certificate.
  private func connectTrustedBySystem(isPublic: Bool) async throws -> Client {
    let remedy =
      "the CAs of this system have to verify this gateway: check the host name, and install or update the package "
      + "ca-certificates"
    do {
      return try await Client.connect(
        to: .tls(host: host, port: port, trustPath: SystemTrust.path, remedy: isPublic ? remedy : nil))
    } catch let error as ClientError {
      guard error.isPermanent else { throw CommandFailure(error) }
      guard !isPublic else {
        let isNamed = error.description.hasSuffix(remedy)
        throw CommandFailure(.unreachable, "\(error)\(isNamed ? "" : "; \(remedy)"). Nothing was sent")
      }
      throw CommandFailure(
        .unreachable,
        "this system does not trust the certificate of \(self): name its CA, as "
          + "`pushcli contexts add F85D-P90X-EWQC-C6B1@\(self)`; `pushcli certs authority` there prints it")
    }
  }

  /// Returns true if this system trusts the gateway's certificate without the pin, and therefore also its renewals.
  private func isTrustedBySystem() async -> Bool {
    let path = SystemTrust.path
    guard FileManager.default.isReadableFile(atPath: path),
      let client = try? await Client.connect(to: .tls(host: host, port: port, trustPath: path))
    else { return false }
    client.close()
    return true
  }
}
