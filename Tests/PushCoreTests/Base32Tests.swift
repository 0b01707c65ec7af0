import PushCore
import Testing

@Suite struct Base32Tests {
  @Test(
    arguments: [
      ([], ""), ([0x00], "00"), ([0xFF], "ZW"), ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "ZZZZZZZZ"),
      ([0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0x01, 0x23], "04HMASW9NF6YY093"),
    ] as [([UInt8], String)])
  func `bytes are written five bits at a time, the highest first`(_ bytes: [UInt8], _ text: String) {
    #expect(Base32.text(bytes) == text)
  }

  @Test func `a character for each byte has its lowest five bits`() {
    #expect(Base32.characters([0, 31, 32, 0xFF]) == "0Z0Z")
  }

  @Test func `a character is read however it was written down`() {
    for value in UInt8(0)..<32 {
      let character = Base32.characters([value])
      #expect(character.utf8.first.flatMap(Base32.value) == value)
      #expect(character.lowercased().utf8.first.flatMap(Base32.value) == value)
    }
    #expect("oOiIlL".utf8.map(Base32.value) == [0, 0, 1, 1, 1, 1])
    for byte in "uU- _@[`{\u{0}\u{7F}é".utf8 { #expect(Base32.value(of: byte) == nil) }
  }
}
