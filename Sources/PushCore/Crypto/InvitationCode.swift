/// What an invitation is told as: so much of the authority's fingerprint that nobody else's gateway has the same, and a
/// secret. Digits and letters that are not taken for each other (``Base32``), in groups, so that it can be read out.
///
/// ```
/// K3PM-9XQ2-7VTD-H4RC-8NWE2-Q6J5B
/// authority (80 bits) secret (50 bits)
/// ```
package struct InvitationCode: Sendable, Equatable, CustomStringConvertible {
  /// What the holder of a code can do with it.
  package enum Kind: Sendable, CaseIterable {
    /// One device enrolls, soon. The secret is short, so few tries are let through.
    case once
    /// Many do, for days. The secret is too long to be guessed.
    case shared

    /// Characters of its secret, five bits each.
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
  /// As it is hashed: canonical characters without anything between them; a code of an earlier version as it was made.
  package let secret: String
  private let kind: Kind?

  /// A code for a secret of ``newSecret(_:)``.
  package init(authority: String, secret: String) {
    self.authority = authority
    self.secret = secret
    kind = Kind.allCases.first { $0.secretSize == secret.utf8.count }
  }

  /// Reads what was written down of a code: in any case, with its groups apart in any way, O for 0, I or L for 1.
  ///
  /// - Returns: nil for what is no code of this version.
  package init?(_ text: String) {
    guard let characters = InvitationCode.characters(of: text) else { return nil }
    let size = AuthorityFingerprint.count
    guard let kind = Kind.allCases.first(where: { size + $0.secretSize == characters.utf8.count }) else { return nil }
    (authority, secret) = (String(characters.prefix(size)), String(characters.dropFirst(size)))
    self.kind = kind
  }

  /// Reads a code of any version, also with the gateway's address behind an `@`; anything that is none is a secret as it
  /// stands, which is nobody's.
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

  /// Whether many may use it; nothing is said of a code of an earlier version, which is for one.
  package var isShared: Bool { kind == .shared }

  /// A secret of its kind, from the system's random numbers.
  package static func newSecret(_ kind: Kind) -> String { Base32.characters(randomBytes(count: kind.secretSize)) }

  /// By what of a short secret its invitation is found, so that a wrong guess counts against it; nil where none is needed.
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

  /// The characters of a text as they were made; nil where one is none of a code's.
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
