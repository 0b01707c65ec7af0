package import PushCore

/// A provider token (reference §4). Each test changes one part of it.
package struct TokenRecipe {
  package enum Signature { case raw, der }
  package enum Alphabet { case url, plainWithPadding }

  package var header = #"{"alg":"ES256","kid":"ABC123DEFG"}"#
  package var claims = #"{"iss":"TEAM000001","iat":1800000000}"#
  package var signature = Signature.raw
  package var alphabet = Alphabet.url

  package init() {}

  /// Returns the signed token.
  package func text(by key: ES256Key) throws -> String {
    let head = encode(Array(header.utf8)) + "." + encode(Array(claims.utf8))
    let raw = try key.signature(of: Array(head.utf8))
    return head + "." + encode(signature == .raw ? raw : der(fromRaw: raw))
  }

  private func encode(_ bytes: [UInt8]) -> String {
    let text = Base64URL.encode(bytes)
    guard alphabet == .plainWithPadding else { return text }
    let plain = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    return String(plain) + String(repeating: "=", count: (4 - plain.count % 4) % 4)
  }
}

/// Returns a raw signature as an ASN.1 SEQUENCE of two INTEGERs.
package func der(fromRaw raw: [UInt8]) -> [UInt8] {
  func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var digits = Array(bytes.drop { $0 == 0 })
    if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
    return [2, UInt8(digits.count)] + digits
  }
  let body = integer(raw[..<32]) + integer(raw[32...])
  return [0x30, UInt8(body.count)] + body
}
