/// The code of an invitation: 80 bits of the fingerprint of the CA, enough to identify one gateway, and a secret.
///
/// The alphabet has no look-alikes (``Base32``), and the characters are grouped, so that a user can read the code
/// aloud.
///
/// ```
/// K3PM-9XQ2-7VTD-H4RC-8NWE2-Q6J5B
/// CA (80 bits)        secret (50 bits)
/// ```
package struct InvitationCode: Sendable, Equatable, CustomStringConvertible {
  /// The number of uses of a code.
  package enum Kind: Sendable, CaseIterable {
    /// For one device, for a short time. The secret is short, so only a few attempts are allowed.
    case once
    /// For many devices, for days. The secret is too long to be guessed.
    case shared

    /// The number of characters of the secret, five bits each.
    fileprivate var secretSize: Int {
      switch self {
      case .once: 10
      case .shared: 26
      }
    }

    fileprivate var groups: Int { self == .once ? 5 : 4 }
  }

  /// The ``AuthorityFingerprint`` of the gateway; nil in a code of an earlier version, which had none.
  package let authority: String?
  /// The text that is hashed: canonical characters without separators; for a code of an earlier version the text as
  /// issued.
  package let secret: String
  private let kind: Kind?

  /// Makes a code from a secret of ``newSecret(_:)``.
  package init(authority: String, secret: String) {
    self.authority = authority
    self.secret = secret
    kind = Kind.allCases.first { $0.secretSize == secret.utf8.count }
  }

  /// Reads a code as a user typed it: in either case, with any grouping, with O read as 0, and I and L as 1.
  ///
  /// - Returns: nil if the text is not a code of this version.
  package init?(_ text: String) {
    guard let characters = InvitationCode.characters(of: text) else { return nil }
    let size = AuthorityFingerprint.count
    guard let kind = Kind.allCases.first(where: { size + $0.secretSize == characters.utf8.count }) else { return nil }
    (authority, secret) = (String(characters.prefix(size)), String(characters.dropFirst(size)))
    self.kind = kind
  }

  /// Reads a code of any version, also with the address of the gateway after an `@`. Any other text becomes a secret
  /// without changes, which matches no invitation.
  package init(reading text: String) {
    let text = String(text.prefix { $0 != "@" })
    if let code = InvitationCode(text) {
      self = code
      return
    }
    let earlier = InvitationCode.characters(of: text).flatMap { $0.utf8.count == 20 ? $0 : nil }
    (authority, kind) = (nil, nil)
    secret = earlier.map { InvitationCode.grouped($0, by: 4).joined(separator: "-") } ?? text
  }

  /// True if many devices may use the code; false for a code of an earlier version, which is for one device.
  package var isShared: Bool { kind == .shared }

  /// Returns a new secret from the system's random numbers.
  package static func newSecret(_ kind: Kind) -> String { Base32.characters(randomBytes(count: kind.secretSize)) }

  /// Returns the first characters of a short secret, by which its invitation is found, so that a wrong guess counts
  /// against the invitation; nil for a long secret, which needs no such protection.
  package static func selector(of secret: String) -> String? {
    secret.utf8.count == Kind.once.secretSize ? String(secret.prefix(3)) : nil
  }

  package var description: String {
    guard let authority, let kind else { return secret }
    let groups = InvitationCode.grouped(authority, by: 4) + InvitationCode.grouped(secret, by: kind.groups)
    return groups.joined(separator: "-")
  }

  private static func grouped(_ text: String, by size: Int) -> [String] {
    stride(from: 0, to: text.count, by: size).map { String(text.dropFirst($0).prefix(size)) }
  }

  /// Returns the canonical characters of a text; nil if one of them can't occur in a code.
  private static func characters(of text: String) -> String? {
    guard text.utf8.count <= 128 else { return nil }
    var values: [UInt8] = []
    for byte in text.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
      guard let value = Base32.value(of: byte) else { return nil }
      values.append(value)
    }
    return Base32.characters(values)
  }
}
