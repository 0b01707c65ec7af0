import Foundation
import GatewayProtocol
import Glibc
import HTTP2Transport
import PushCore
import Synchronization

/// The certificate that the gateway presents, and the CAs whose client certificates it accepts: a change of their
/// files applies to the next connections.
final class ServerCertificate: Sendable {
  /// The TLS configuration of new connections.
  let source: TLSSource
  private let folder: StateFolder
  private let state: Mutex<State>
  /// The last ``record`` with its certificate: reading one costs as much as some pushes.
  private let lastRecord = Mutex<(pem: [UInt8], record: ServerCertificateRecord?)?>(nil)
  /// The hour of the last expiry check, counted from 1970.
  private let examined = Atomic<Int64>(.min)

  private struct State {
    var configuration: Configuration
    /// The state of the files when they were last loaded.
    var stamps: [Stamp?]
    /// True if the CAs of the system verify the certificate.
    var isPublic: Bool
    /// The state of the files when they could not be loaded.
    var unusable: [Stamp?]?
  }

  /// The properties that distinguish versions of a file.
  private struct Stamp: Equatable {
    var file: UInt64
    var size: Int64
    var seconds: Int
    var nanoseconds: Int
  }

  init(_ folder: StateFolder, _ configuration: Configuration) throws {
    self.folder = folder
    let stamps = ServerCertificate.stamps(folder, configuration)
    source = TLSSource(try folder.serverContext(configuration))
    state = Mutex(
      State(configuration: configuration, stamps: stamps, isPublic: ServerCertificate.isPublic(configuration)))
    show()
  }

  /// Returns true if the CAs of the system verify the certificate in the settings. Clients then need to pin no CA.
  private static func isPublic(_ configuration: Configuration) -> Bool {
    configuration.certificate.map { SystemTrust.verifies(certificateFile: $0) } ?? false
  }

  /// Reads the current files, for ``use(_:_:)``.
  ///
  /// - Throws: ``TLSError`` or another error if they can't be used; the configuration in effect is unchanged.
  func read(_ configuration: Configuration) throws -> TLSContext { try folder.serverContext(configuration) }

  /// Writes a certificate of another CA to ``StateFolder/shownCertificatePath``. ``look()`` repeats a failed write.
  private func show() { try? folder.show(isOwn ? nil : source.context.certificatePEM) }

  /// The fingerprint for codes and tokens: of the own CA, or of the last certificate in the configured file; for a
  /// public certificate ``AuthorityFingerprint/ofSystem``.
  var authority: String? {
    let (path, isPublic) = state.withLock { ($0.configuration.certificate, $0.isPublic) }
    return isPublic ? AuthorityFingerprint.ofSystem : AuthorityFingerprint.text(ofLastIn: path ?? folder.trustPath)
  }

  /// The certificate of new connections; nil if it can't be read.
  var record: ServerCertificateRecord? {
    guard let pem = source.context.certificatePEM else { return nil }
    return lastRecord.withLock { last in
      if last?.pem != pem { last = (pem, ServerCertificate.record(ofPEM: pem)) }
      return last?.record
    }
  }

  private static func record(ofPEM pem: [UInt8]) -> ServerCertificateRecord? {
    guard let names = CertificateNames(pem: pem), let end = CertificateExpiry.seconds(ofPEM: pem) else { return nil }
    return ServerCertificateRecord(
      names: names.names, addresses: names.addresses, issuer: CertificateIssuer.name(ofPEM: pem),
      expires: Timestamp.text(seconds: end))
  }

  var path: String { state.withLock { $0.configuration.certificate } ?? folder.certificatePath }

  /// True if the certificate is the one in the state folder, and not from the settings.
  var isOwn: Bool { state.withLock { $0.configuration.certificate == nil } }

  /// Renews the certificate if it expires soon and the gateway's own CA has issued it; checks once an hour.
  ///
  /// - Parameter now: the current time in seconds since 1970.
  /// - Returns: true if the certificate was renewed.
  func renew(now: Int64) throws -> Bool {
    let hour = now / 3600
    guard isOwn, examined.exchange(hour, ordering: .relaxed) != hour, try folder.renewCertificate(now: now) else {
      return false
    }
    try reload()
    return true
  }

  /// Loads the files again, with the settings in effect.
  func reload() throws {
    let configuration = state.withLock { $0.configuration }
    use(try read(configuration), configuration)
  }

  /// Puts a TLS configuration into effect, and watches its files from now on.
  func use(_ context: TLSContext, _ configuration: Configuration) {
    source.replace(with: context)
    let stamps = ServerCertificate.stamps(folder, configuration)
    let isPublic = ServerCertificate.isPublic(configuration)
    state.withLock { $0 = State(configuration: configuration, stamps: stamps, isPublic: isPublic) }
    show()
  }

  /// The result of a check of the files.
  enum Finding: Equatable {
    case replaced
    /// The files have changed and can't be used, with the error in one line; reported once for each change. While two
    /// files are written one after the other, they temporarily do not match.
    case unusable(String)
  }

  /// Loads the files again if one has changed.
  func look() -> Finding? {
    defer { show() }
    let before = state.withLock { $0 }
    let stamps = ServerCertificate.stamps(folder, before.configuration)
    guard stamps != before.stamps else { return nil }
    do {
      source.replace(with: try read(before.configuration))
      let isPublic = ServerCertificate.isPublic(before.configuration)
      state.withLock { ($0.stamps, $0.isPublic, $0.unusable) = (stamps, isPublic, nil) }
      examined.store(.min, ordering: .relaxed)
      return .replaced
    } catch {
      state.withLock { $0.unusable = stamps }
      return stamps == before.unusable ? nil : .unusable("\(error)")
    }
  }

  private static func files(_ folder: StateFolder, _ configuration: Configuration) -> [String] {
    [
      configuration.certificate ?? folder.certificatePath, configuration.certificateKey ?? folder.keyPath,
      folder.trustPath, folder.previousTrustPath,
    ] + (configuration.clientCA.map { [$0] } ?? [])
  }

  private static func stamps(_ folder: StateFolder, _ configuration: Configuration) -> [Stamp?] {
    files(folder, configuration).map { path in
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      return Stamp(
        file: UInt64(status.st_ino), size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
        nanoseconds: status.st_mtim.tv_nsec)
    }
  }
}
