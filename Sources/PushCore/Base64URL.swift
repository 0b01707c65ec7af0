import PushPolicy

/// Base64 as provider tokens contain it: the URL alphabet (RFC 4648 §5), and the standard alphabet with padding that
/// some libraries send (reference §4.3).
package enum Base64URL {
  /// Decodes a text in either alphabet, with or without padding.
  ///
  /// Each value has exactly one accepted spelling in each alphabet, with and without padding. Otherwise a verified
  /// token could be sent again in an unlimited number of other spellings.
  ///
  /// - Returns: nil if a character belongs to neither alphabet, both alphabets are mixed, the padding is wrong, or
  ///   the unused last bits are not zero.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    ReadingSteps.add(text.count)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    var (bits, count): (UInt32, UInt32) = (0, 0)
    var (isPlain, isURL, digits, padding) = (false, false, 0, 0)
    for character in text {
      if character == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      guard padding == 0, let value = value(character) else { return nil }
      digits += 1
      if character == UInt8(ascii: "+") || character == UInt8(ascii: "/") { isPlain = true }
      if character == UInt8(ascii: "-") || character == UInt8(ascii: "_") { isURL = true }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    let isPadded = padding == 0 || padding == (4 - digits % 4) % 4
    guard isPadded, !(isPlain && isURL), digits % 4 != 1, bits & (1 << count - 1) == 0 else { return nil }
    return bytes
  }

  /// Returns the base64url text of `bytes`, without padding.
  package static func encode(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    var (bits, count): (UInt32, UInt32) = (0, 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(alphabet[Int(bits >> count & 63)])
      }
    }
    if count > 0 { text.append(alphabet[Int(bits << (6 - count) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func value(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"), UInt8(ascii: "+"): 62
    case UInt8(ascii: "_"), UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
