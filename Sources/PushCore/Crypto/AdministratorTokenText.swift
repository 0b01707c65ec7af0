/// The text of an administrator's token: `pga-`, the fingerprint of the gateway's CA, and 130 random bits. The
/// fingerprint lets the holder of the token verify the gateway.
package enum AdministratorTokenText {
  /// The first characters of every token.
  package static let prefix = "pga-"
  private static let secretCount = 26

  /// Returns a new token.
  ///
  /// - Parameter fingerprint: the fingerprint of the CA, as ``AuthorityFingerprint`` makes it.
  package static func make(fingerprint: String) -> String {
    "\(prefix)\(fingerprint)-\(Base32.characters(randomBytes(count: secretCount)))"
  }
}
