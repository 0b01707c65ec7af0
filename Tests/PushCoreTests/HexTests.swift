import PushTesting
import Testing

@testable import PushCore

@Suite struct HexTests {
  @Test func `exactly the hex digits of both cases have a value`() {
    for byte in UInt8.min...UInt8.max {
      let expected = byte < 128 ? Character(UnicodeScalar(byte)).hexDigitValue : nil
      #expect(hexValue(byte).map(Int.init) == expected)
    }
  }

  @Test func `digits are written in lower case`() {
    #expect(String(decoding: (0..<16).map { hexDigit($0) }, as: UTF8.self) == "0123456789abcdef")
  }

  @Test func `eight digits at once are what they are one by one`() {
    var random = SplitMix64(state: 3)
    let signs = Array("0123456789abcdefABCDEF/:@`gG \u{7F}".utf8) + [0, 0x80, 0xFF, 0xB0, 0xE1]
    for _ in 0..<20_000 {
      // Mostly digits, so that most of the texts are valid.
      let text = (0..<8).map { _ in
        Int.random(in: 0..<12, using: &random) > 0
          ? signs[Int.random(in: 0..<22, using: &random)] : signs.randomElement(using: &random) ?? 0
      }
      let word = text.enumerated().reduce(UInt64(0)) { $0 | UInt64($1.element) << UInt64(8 * $1.offset) }
      let values = text.compactMap(hexValue)
      let expected = values.count == 8 ? values.reduce(UInt32(0)) { $0 << 4 | UInt32($1) } : nil
      #expect(hexValue(ofEight: word) == expected, "\(text)")
    }
  }

  @Test func `eight digits are written at once as they are one by one`() {
    var random = SplitMix64(state: 5)
    for _ in 0..<20_000 {
      let value = UInt32.random(in: 0 ... .max, using: &random)
      let upperCase = UInt8.random(in: 0 ... .max, using: &random)
      let expected = (0..<8).map { place in
        let digit = hexDigit(UInt8(truncatingIfNeeded: value >> UInt32(28 - 4 * place)) & 15)
        let isUpper = upperCase >> (7 - place) & 1 == 1 && digit >= UInt8(ascii: "a")
        return isUpper ? digit - 0x20 : digit
      }
      let word = hexDigits(value, upperCase: upperCase)
      #expect((0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) } == expected)
    }
  }
}
