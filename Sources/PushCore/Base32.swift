/// Crockford's base 32: digits and letters that are not taken for each other, so that they can be read out.
package enum Base32 {
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  /// Each five bits as a character, the highest first; the last one has zeros for bits that are not there.
  package static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var (rest, count) = (UInt32(0), 0)
    for byte in bytes {
      rest = (rest << 8 | UInt32(byte)) & 0xFFF
      count += 8
      while count >= 5 {
        count -= 5
        text.append(alphabet[Int(rest >> UInt32(count)) & 31])
      }
    }
    if count > 0 { text.append(alphabet[Int(rest << UInt32(5 - count)) & 31]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// A character for each byte, of which the lowest five bits count.
  package static func characters(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.map { alphabet[Int($0 & 31)] }, as: UTF8.self)
  }

  /// The value of a character as it may have been written down: in any case, O for 0, I or L for 1; nil for any other.
  package static func value(of byte: UInt8) -> UInt8? {
    let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
    let digit: UInt8 =
      switch upper {
      case UInt8(ascii: "O"): UInt8(ascii: "0")
      case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
      default: upper
      }
    return alphabet.firstIndex(of: digit).map(UInt8.init)
  }
}
