import PushCore

/// The signature of a request of GitHub: HMAC-SHA-256 of the body with the token.
struct HookSignature {
  private let digits: [UInt8]

  private static let prefix = "sha256="

  /// Reads the value of `x-hub-signature-256`; nil for any other text.
  init?(_ field: String?) {
    guard let field, field.hasPrefix(HookSignature.prefix) else { return nil }
    digits = Array(field.dropFirst(HookSignature.prefix.count).lowercased().utf8)
  }

  func isValid(of body: [UInt8], token: String) -> Bool {
    let expected = Digest.hex(Digest.hmacSHA256(body, key: Array(token.utf8)))
    return Digest.areEqual(Array(expected.utf8), digits)
  }
}
