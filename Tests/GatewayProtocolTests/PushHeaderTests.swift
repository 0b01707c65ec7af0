import PushPolicy
import Testing

@testable import GatewayProtocol

@Suite struct PushHeaderTests {
  private let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)

  private func header(_ text: String) -> PushHeader? { PushHeader(line: Array(text.utf8)[...], parser: parser) }

  @Test func `the members before the payload are read`() throws {
    let text = #"{"type":"push","seq":7,"id":"i","topic":"t","received":"r","payload":{"id":"no","seq":1}}"#
    let read = try #require(header(text))
    #expect((read.seq, read.id, read.topic, read.received) == (7, "i", "t", "r"))
    #expect(header(#"{"type":"push","seq":-7,"id":"i","topic":"t"}"#)?.seq == 0)
    #expect(header(#"{"type":"push","seq":7,"id":"i","topic":"t"}"#)?.received == "")
  }

  @Test(arguments: [
    "", "words", " {}", "[]", "{}", #"{"type":"gap","seq":7,"id":"i","topic":"t"}"#, #"{"type":"push","seq":7"#,
    #"{"type":"push","seq":7,"id":"i"}"#, #"{"type":"push","seq":7,"topic":"t"}"#,
    #"{"type":"push","seq":"7","id":"i","topic":"t"}"#,
  ])
  func `any other line is none`(_ text: String) {
    #expect(header(text) == nil)
  }

  @Test(
    arguments: [
      (#"{"type":"push","seq":12,"id":"#, 12), (#"{"type":"push","seq":"#, 0), (#"{"type":"push","seq":x"#, 0),
      (#"{"type":"push","se"#, 0), (#"{"type":"push""#, 0), (#"{"type":"push"#, nil), ("", nil),
      (#"{"type":"pushed","seq":1"#, nil), (#"{"seq":1,"type":"push""#, nil),
      (#"{"type":"push","seq":99999999999999999999999,"#, 0),
    ] as [(String, UInt64?)])
  func `the number is read from the first bytes`(_ text: String, _ number: UInt64?) {
    let read = GatewayLine.numberOfPush(Array(text.utf8).span)
    #expect(read == number)
  }
}
