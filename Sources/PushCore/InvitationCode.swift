/// The code of an invitation, as it can be read out over a telephone: five groups of four, of digits and letters that are
/// not taken for each other (Crockford's base 32), a hundred bits.
package enum InvitationCode {
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  private static let (groups, groupSize) = (5, 4)

  /// - Parameter random: at least twenty bytes, of each of which five bits count.
  package static func make(_ random: [UInt8]) -> String {
    precondition(random.count >= groups * groupSize, "a code needs twenty random bytes")
    return (0..<groups).map { group in
      String(
        decoding: random[group * groupSize..<(group + 1) * groupSize].map { alphabet[Int($0 & 31)] }, as: UTF8.self)
    }.joined(separator: "-")
  }

  /// What was written down of it, as it was made: in any case, with its groups apart in any way, O for 0, I or L for 1.
  /// Anything else, such as a code of an earlier version, stays as it is.
  package static func read(_ text: String) -> String {
    guard text.utf8.count <= 64 else { return text }
    var digits: [UInt8] = []
    for byte in text.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
      let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
      let digit: UInt8 =
        switch upper {
        case UInt8(ascii: "O"): UInt8(ascii: "0")
        case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
        default: upper
        }
      guard let value = alphabet.firstIndex(of: digit) else { return text }
      digits.append(UInt8(truncatingIfNeeded: value))
    }
    return digits.count == groups * groupSize ? make(digits) : text
  }
}
