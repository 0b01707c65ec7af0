/// The text of the token of a sender of messages: `pgs-` and 130 random bits.
package enum SenderTokenText {
  /// The first characters of every token.
  package static let prefix = "pgs-"
  private static let secretCount = 26

  /// Returns a new token.
  package static func make() -> String { prefix + Base32.characters(randomBytes(count: secretCount)) }
}
