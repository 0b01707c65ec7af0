import Foundation
import GatewayProtocol
import PushCore
import Synchronization

/// The renewal of the gateway's own certificates, and the rollover of its CA.
extension StateFolder {
  /// The time before its end at which the server's certificate is renewed, in seconds: 30 days.
  static let renewalTime: Int64 = 30 * 86_400

  /// The maximum number of previous CAs to keep.
  private static let maximumPrevious = 4

  /// The lock for changes of certificate files.
  private static let changes = Mutex(())

  /// Renews the server's certificate, with its names, if it expires soon and the gateway's own CA has issued it.
  ///
  /// - Parameter now: the current time in seconds since 1970.
  /// - Returns: true if the certificate was renewed.
  func renewCertificate(now: Int64) throws -> Bool {
    guard let end = CertificateExpiry.seconds(ofFile: certificatePath), end - now < StateFolder.renewalTime else {
      return false
    }
    return try StateFolder.changes.withLock { _ in
      guard let names = ownNames(authorities: contents(trustPath)) else { return false }
      try install(try authority().issueServer(names: names.names, addresses: names.addresses))
      return true
    }
  }

  /// Issues a certificate for the server.
  ///
  /// - Parameter isInstalled: true if it replaces the present one.
  func issueServer(
    _ names: CertificateNames, isInstalled: Bool
  ) throws -> (certificatePEM: [UInt8], keyPEM: [UInt8]) {
    try StateFolder.changes.withLock { _ in
      let issued = try authority().issueServer(names: names.names, addresses: names.addresses)
      if isInstalled { try install(issued) }
      return issued
    }
  }

  /// Issues the server's certificate again with these addresses added, if it lacks one of them and the gateway's own
  /// CA has issued it.
  func addNames(of addresses: [GatewayAddress]) throws {
    if addresses.isEmpty { return }
    let hosts = addresses.map(\.host)
    let isAddress = { CertificateNames.canonical(address: $0) != nil }
    let others = CertificateNames(names: hosts.filter { !isAddress($0) }, addresses: hosts.filter(isAddress))
    try StateFolder.changes.withLock { _ in
      guard let present = ownNames(authorities: contents(trustPath)) else { return }
      let names = present.union(others)
      if names == present { return }
      try install(try authority().issueServer(names: names.names, addresses: names.addresses))
    }
  }

  /// The names of the server's certificate, if the gateway's own CA has issued it; nil otherwise.
  var ownNames: CertificateNames? { ownNames(authorities: contents(trustPath)) }

  private func ownNames(authorities: [UInt8]) -> CertificateNames? {
    let present = contents(certificatePath)
    return CertificateAuthority.hasIssued(present, authorities: authorities) ? CertificateNames(pem: present) : nil
  }

  /// The CA certificates that devices should trust: the current one, and the next one during a rollover. Empty if
  /// there is none.
  var trustBundle: [UInt8] { contents(trustPath) + contents(nextTrustPath) }

  private func contents(_ path: String) -> [UInt8] {
    FileManager.default.contents(atPath: path).map { Array($0) } ?? []
  }

  // MARK: The CA of a cluster

  /// The files that the gateways of a cluster share.
  private static let authorityNames = ["ca.pem", "ca.key", "ca-next.pem", "ca-next.key", "ca-previous.pem"]

  /// The existing files of the CA, by their names.
  var authorityFiles: [String: [UInt8]] {
    StateFolder.authorityNames.reduce(into: [:]) { files, name in
      let content = contents(path + "/" + name)
      if !content.isEmpty { files[name] = content }
    }
  }

  /// Replaces the CA by that of the cluster, and issues the server's certificate again if the present one is from
  /// another CA.
  func adoptAuthority(_ files: [String: [UInt8]]) throws {
    try StateFolder.changes.withLock { _ in
      if files == authorityFiles { return }
      let names = ownNames(authorities: contents(trustPath))
      // Each key before its certificate: an interrupted replacement is repeated.
      for name in StateFolder.authorityNames.sorted(by: { $0.hasSuffix(".key") && !$1.hasSuffix(".key") }) {
        let place = path + "/" + name
        if let content = files[name] {
          try write(content, to: place, mode: name == "ca.pem" ? 0o644 : 0o600)
        } else if FileManager.default.fileExists(atPath: place) {
          try FileManager.default.removeItem(atPath: place)
        }
      }
      guard let names, ownNames(authorities: contents(trustPath)) == nil else { return }
      try install(try authority().issueServer(names: names.names, addresses: names.addresses))
    }
  }

  // MARK: Rollover

  /// Creates the next CA, unless there is one.
  func beginRollover() throws {
    try StateFolder.changes.withLock { _ in
      guard contents(nextTrustPath).isEmpty || contents(nextAuthorityKeyPath).isEmpty else { return }
      let next = try CertificateAuthority()
      try write(next.keyPEM, to: nextAuthorityKeyPath, mode: 0o600)
      try write(next.certificatePEM, to: nextTrustPath, mode: 0o600)
    }
  }

  /// Replaces the CA by the next one, which issues the server's certificate from now on. An interrupted call can be
  /// repeated.
  ///
  /// - Throws: ``Failure`` if no rollover is in progress.
  func finishRollover() throws {
    try StateFolder.changes.withLock { _ in
      let (next, key) = (contents(nextTrustPath), contents(nextAuthorityKeyPath))
      guard !next.isEmpty, !key.isEmpty else {
        throw Failure(description: "no CA rollover is in progress: `pushcli certs rollover` begins one")
      }
      let authority = try CertificateAuthority(certificatePEM: next, keyPEM: key)
      let present = contents(trustPath)
      if present != next {
        try write(
          StateFolder.newest(present + contents(previousTrustPath)), to: previousTrustPath, mode: 0o600)
      }
      if let names = ownNames(authorities: contents(previousTrustPath)) {
        try install(try authority.issueServer(names: names.names, addresses: names.addresses))
      }
      try write(key, to: authorityKeyPath, mode: 0o600)
      try write(next, to: trustPath, mode: 0o644)
      for path in [nextAuthorityKeyPath, nextTrustPath] { try FileManager.default.removeItem(atPath: path) }
    }
  }

  /// Returns the first certificates of a PEM text, up to ``maximumPrevious``.
  private static func newest(_ pem: [UInt8]) -> [UInt8] {
    let mark = "-----BEGIN CERTIFICATE-----"
    let parts = String(decoding: pem, as: UTF8.self).components(separatedBy: mark).dropFirst().prefix(maximumPrevious)
    return Array(parts.map { mark + $0 }.joined().utf8)
  }
}
