import Testing

@testable import PushCore

@Suite struct DigestTests {
  /// Test cases 1, 2, 3 and 6 of RFC 4231, and the example of GitHub's documentation.
  private static let cases: [(key: [UInt8], text: [UInt8], mac: String)] = [
    (
      [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
      Array("It's a Secret to Everybody".utf8), Array("Hello, World!".utf8),
      "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    ),
  ]

  @Test(arguments: 0..<5) func `an HMAC is that of the standard`(_ number: Int) {
    let one = DigestTests.cases[number]
    #expect(Digest.hex(Digest.hmacSHA256(one.text, key: one.key)) == one.mac)
  }

  @Test func `bytes are equal if all are`() {
    #expect(Digest.areEqual([], []))
    #expect(Digest.areEqual([1, 2, 3], [1, 2, 3]))
    for other in [[], [1, 2], [1, 2, 4], [0, 2, 3], [1, 2, 3, 0]] as [[UInt8]] {
      #expect(!Digest.areEqual([1, 2, 3], other))
    }
  }
}
