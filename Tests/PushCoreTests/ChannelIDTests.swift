import Testing

@testable import PushCore

@Suite struct ChannelIDTests {
  @Test func `the text is 24 characters of base64 and reads back`() {
    for _ in 0..<100 {
      let id = ChannelID.random()
      #expect(id.description.utf8.count == ChannelID.textSize)
      #expect(ChannelID(id.description.utf8) == id)
      #expect(ChannelID(bytes: id.bytes) == id)
    }
  }

  @Test(arguments: [
    "", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAA-_=", "AAAAAAAAAAAAAAAAAAAAAA==A",
    "AAAAAAAAAAAAAAAAAAAAAAA=",
  ])
  func `anything else is none`(_ text: String) {
    #expect(ChannelID(text.utf8) == nil)
  }
}
