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

  /// Returns the fingerprint in a token; nil if the text is not a token.
  package static func fingerprint(of text: String) -> String? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == prefix.dropLast(), parts[1].utf8.count == AuthorityFingerprint.count,
      parts[2].utf8.count == secretCount, (parts[1] + parts[2]).utf8.allSatisfy({ Base32.value(of: $0) != nil })
    else { return nil }
    return String(parts[1])
  }
}
