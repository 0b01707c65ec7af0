import Testing

@testable import pushcli

@Suite struct QRCodeTests {
  @Test func `a code is square, with a margin, and its corners are finders`() throws {
    let lines = try #require(qrCodeLines("https://gateway.example:2197/join#CODE"))
    let width = try #require(lines.first).count
    #expect(lines.allSatisfy { $0.count == width } && lines.count == (width + 1) / 2)
    // A QR code of version 3 has 29 modules.
    #expect(width == 29 + 8)
    #expect(lines[0] == String(repeating: "█", count: width))
    #expect(lines[2].hasPrefix("████ ▄▄▄▄▄ █"))
  }

  @Test func `what is too much for one is refused`() {
    #expect(qrCodeLines(String(repeating: "x", count: 5000)) == nil)
  }
}
