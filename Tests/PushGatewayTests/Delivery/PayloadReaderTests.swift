import PushPolicy
import PushTesting
import Testing

@testable import PushGateway
@testable import PushStorage

@Suite struct PayloadReaderTests {
  let reader = PayloadReader(parser: JSONParser())

  func content(_ text: String) throws -> PushContent { try reader.content(of: Array(text.utf8)) }

  @Test func `a payload that is known is not read again`() throws {
    let text = #"{"aps":{"alert":"Gate 7","badge":2}}"#
    let first = try content(text)
    #expect(try content(text) === first)
    #expect(try content(text + " ") !== first)
    #expect(first.notification.alert?.body == "Gate 7")
  }

  @Test func `what is remembered is what the parser says`() throws {
    let parser = JSONParser()
    // More texts than entries of the cache, of many lengths, some of which differ only in a byte that is not part of
    // the sampled hash.
    let texts = (0..<400).map { number in
      let filling = String(repeating: "x", count: number % 50)
      return #"{"aps":{"alert":{"title":"\#(filling)","body":"\#(number)"},"badge":\#(number % 3)}}"#
    }
    for _ in 0..<2 {
      for text in texts {
        let content = try content(text)
        #expect(content.parsed == (try parser.payload(Array(text.utf8).span)))
        #expect(content.payload == Array(text.utf8))
      }
    }
  }

  @Test(arguments: ["1", "22", "{}", "{ }", #"{"a":1}"#])
  func `a payload shorter than a sample is itself`(_ text: String) throws {
    _ = try? content("2")
    _ = try? content("{  }")
    let parsed = try? JSONParser().payload(Array(text.utf8).span)
    #expect((try? content(text))?.parsed == parsed)
  }

  @Test func `line breaks are taken out of what is kept`() throws {
    let text = "{\n\"aps\":\r\n{\"badge\":1}}"
    for _ in 0..<2 {
      let content = try content(text)
      #expect(content.payload == Array("{ \"aps\":  {\"badge\":1}}".utf8))
      #expect(content.notification.badge == 1)
    }
  }

  @Test(arguments: ["", "[]", "{", #"{"aps":"#])
  func `what is no object is refused each time`(_ text: String) {
    for _ in 0..<2 { #expect(throws: PayloadError.self) { try content(text) } }
  }

  @Test func `a push brings what it says along, and one from a home is read`() throws {
    let known = try content(#"{"aps":{"badge":5}}"#)
    let brought = StoredPush(
      device: 1, app: 1, id: .number(1), isSenderID: true, uniqueID: .number(2), received: 0, expires: 0, priority: 10,
      collapseID: "", payload: [], content: known)
    #expect(reader.content(of: brought) === known)
    #expect(reader.content(of: samplePush(payload: #"{"aps":{"badge":6}}"#))?.notification.badge == 6)
    #expect(reader.content(of: samplePush(payload: "no JSON")) == nil)
  }

  @Test(arguments: AdAssessment.Outcome.allCases)
  func `a verdict is kept with what it is about`(_ outcome: AdAssessment.Outcome) throws {
    let content = try content(#"{"aps":{"alert":"hello"}}"#)
    #expect(content.verdict == nil)
    content.keep(verdict: outcome)
    #expect(content.verdict == outcome)
  }
}
