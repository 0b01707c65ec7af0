import PushTesting
import Testing

@testable import PushCore

@Suite struct Base64URLTests {
  // RFC 4648 §10, and bytes for which the two alphabets differ.
  static let samples: [([UInt8], String)] = [
    ([], ""), (Array("f".utf8), "Zg"), (Array("fo".utf8), "Zm8"), (Array("foo".utf8), "Zm9v"),
    (Array("foob".utf8), "Zm9vYg"), (Array("fooba".utf8), "Zm9vYmE"), (Array("foobar".utf8), "Zm9vYmFy"),
    ([0xFB, 0xFF, 0xFE], "-__-"), ([0], "AA"), ([0xFF, 0xFF, 0xFF], "____"),
  ]

  @Test(arguments: samples)
  func `bytes are written in the URL alphabet without padding`(_ bytes: [UInt8], _ text: String) {
    #expect(Base64URL.encode(bytes) == text)
  }

  @Test(arguments: samples)
  func `both alphabets are read, with and without padding`(_ bytes: [UInt8], _ text: String) {
    let plain = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
    for variant in [text, text + padding, plain, plain + padding] {
      #expect(Base64URL.decode(variant.utf8) == bytes)
    }
  }

  @Test(arguments: [
    "Zg=", "Zg===", "=Zg", "Z=g=", "Zm9v=", "Zm9v====", "Zh", "Zm9", "-_+/", "+_", "A", "Zm9vA", "=", "====",
  ])
  func `another spelling of the same bytes is refused`(_ text: String) {
    #expect(Base64URL.decode(text.utf8) == nil)
  }

  @Test(arguments: ["Zg!", "Z g", "Zm9v\n", "é", "Zm9v.Zm9v", "\0"])
  func `a character of neither alphabet is refused`(_ text: String) {
    #expect(Base64URL.decode(text.utf8) == nil)
  }

  @Test func `every size comes back`() {
    var random = SplitMix64(state: 7)
    for size in 0..<100 {
      let bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
    }
  }
}
