import Logging
import PushCore

/// The maintenance of the server's certificate while the gateway runs.
enum CertificateMaintenance {
  /// Renews the server's certificate if it expires soon, and logs the renewal or its failure.
  ///
  /// - Parameter renew: renews the certificate if it expires soon; returns true if it did.
  static func renew(_ logger: Logger, _ renew: () throws -> Bool) {
    do {
      guard try renew() else { return }
      logger.log(
        .certificateRenewed, "the certificate was about to expire and was renewed: new connections use it")
    } catch {
      logger.log(.certificateNotRenewed, "the certificate is about to expire and can't be renewed: \(error)")
    }
  }

  /// Loads a certificate that was replaced on disk.
  static func look(at certificate: ServerCertificate, _ logger: Logger) {
    switch certificate.look() {
    case .replaced?: logger.log(.certificateReplaced, "the certificate was replaced: new connections use it")
    case .unusable(let problem)?:
      logger.log(
        .certificateUnusable, "the certificate on disk can't be used, the previous one stays in use: \(problem)")
    case nil: break
    }
  }
}
