import Foundation
import Glibc
import HTTP2Transport
import PushCore
import Synchronization

/// The certificate that the gateway shows, and the authorities whose certificates it takes: what their files hold when they
/// change is used from the next connection on.
final class ServerCertificate: Sendable {
  /// What connections are made with.
  let source: TLSSource
  private let folder: StateFolder
  private let state: Mutex<State>
  /// The hour in which its end was last looked at, since 1970.
  private let examined = Atomic<Int64>(.min)

  private struct State {
    var configuration: Configuration
    /// What the files were when they were last read.
    var stamps: [Stamp?]
    /// Whether the CAs of the system verify the certificate.
    var isPublic: Bool
    /// What they were when they could not be used.
    var unusable: [Stamp?]?
  }

  /// What tells one state of a file from the next.
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

  /// Whether the CAs of the system verify the certificate that the settings name. Clients then need to pin no CA.
  private static func isPublic(_ configuration: Configuration) -> Bool {
    configuration.certificate.map { SystemTrust.verifies(certificateFile: $0) } ?? false
  }

  /// What the files hold now, for ``use(_:)``.
  ///
  /// - Throws: when they can't be used; what is in force stays so.
  func read(_ configuration: Configuration) throws -> TLSContext { try folder.serverContext(configuration) }

  /// Writes a certificate from elsewhere to ``StateFolder/shownCertificatePath``. ``look()`` tries again what could not be
  /// written.
  private func show() { try? folder.show(isOwn ? nil : source.context.certificatePEM) }

  /// The fingerprint for codes and tokens: of the own CA, or of the last certificate of the file that the settings name; for a public
  /// certificate ``AuthorityFingerprint/ofSystem``.
  var authority: String? {
    let (path, isPublic) = state.withLock { ($0.configuration.certificate, $0.isPublic) }
    return isPublic ? AuthorityFingerprint.ofSystem : AuthorityFingerprint.text(ofLastIn: path ?? folder.trustPath)
  }

  /// Where it lies.
  var path: String { state.withLock { $0.configuration.certificate } ?? folder.certificatePath }

  /// Whether it is the one in the state folder, and none that the settings name.
  var isOwn: Bool { state.withLock { $0.configuration.certificate == nil } }

  /// Renews it where its end is near and the gateway's own authority has issued it; looks once an hour.
  ///
  /// - Parameter now: seconds since 1970.
  /// - Returns: whether it did.
  func renew(now: Int64) throws -> Bool {
    let hour = now / 3600
    guard isOwn, examined.exchange(hour, ordering: .relaxed) != hour, try folder.renewCertificate(now: now) else {
      return false
    }
    try reload()
    return true
  }

  /// Reads the files again, with the settings that are in force.
  func reload() throws {
    let configuration = state.withLock { $0.configuration }
    use(try read(configuration), configuration)
  }

  /// Puts what was read into force, and watches its files from now on.
  func use(_ context: TLSContext, _ configuration: Configuration) {
    source.replace(with: context)
    let stamps = ServerCertificate.stamps(folder, configuration)
    let isPublic = ServerCertificate.isPublic(configuration)
    state.withLock { $0 = State(configuration: configuration, stamps: stamps, isPublic: isPublic) }
    show()
  }

  /// What a look at the files has found.
  enum Finding: Equatable {
    case replaced
    /// They have changed and can't be used, in one line; said once for each change. Whoever writes two files one after the
    /// other has them fit a moment later.
    case unusable(String)
  }

  /// Reads the files again if one has changed.
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
