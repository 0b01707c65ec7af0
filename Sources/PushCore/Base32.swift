/// Crockford's base 32: an alphabet of digits and letters without look-alikes, for codes that are read aloud or
/// typed.
package enum Base32 {
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  /// Returns one character for each five bits, the highest bits first; the last character is padded with zero bits.
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

  /// Returns one character for each byte; only the lowest five bits of a byte count.
  package static func characters(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.map { alphabet[Int($0 & 31)] }, as: UTF8.self)
  }

  /// Returns the value of a character, in either case, with O read as 0, and I and L as 1; nil for any other byte.
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
