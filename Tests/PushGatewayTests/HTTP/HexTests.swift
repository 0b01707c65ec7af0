import Testing

@testable import PushGateway

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
}
