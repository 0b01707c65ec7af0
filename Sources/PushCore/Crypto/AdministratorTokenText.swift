/// The text of an administrator's token: `pga-`, the fingerprint of the gateway's authority, so that whoever has it knows
/// the gateway, and 130 random bits.
package enum AdministratorTokenText {
  /// What every one begins with.
  package static let prefix = "pga-"
  private static let secretCount = 26

  /// A new one.
  ///
  /// - Parameter fingerprint: as of ``AuthorityFingerprint``.
  package static func make(fingerprint: String) -> String {
    "\(prefix)\(fingerprint)-\(Base32.characters(randomBytes(count: secretCount)))"
  }

  /// The fingerprint in one; nil of what is none.
  package static func fingerprint(of text: String) -> String? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == prefix.dropLast(), parts[1].utf8.count == AuthorityFingerprint.count,
      parts[2].utf8.count == secretCount, (parts[1] + parts[2]).utf8.allSatisfy({ Base32.value(of: $0) != nil })
    else { return nil }
    return String(parts[1])
  }
}
