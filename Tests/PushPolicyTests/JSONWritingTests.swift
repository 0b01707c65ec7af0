import FoundationEssentials
import PushPolicy
import Testing

@Suite struct JSONWritingTests {
  func json(_ presentation: Presentation) -> String {
    var bytes: [UInt8] = []
    presentation.appendJSON(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: [
    ("", #""""#), ("plain", #""plain""#), (#"a"b\c/"#, #""a\"b\\c/""#), ("\n\r\t", #""\n\r\t""#),
    ("\0\u{1}\u{F}\u{10}\u{1F}\u{7F}", "\"\\u0000\\u0001\\u000f\\u0010\\u001f\u{7F}\""),
    ("é😀\u{2028}", "\"é😀\u{2028}\""),
  ])
  func `a string is written with the escapes that JSON demands and no others`(_ string: String, _ literal: String) {
    var bytes: [UInt8] = Array("x".utf8)
    appendJSONString(string, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "x" + literal)
  }

  @Test(arguments: [([], "[]"), (["a"], #"["a"]"#), (["a\"", "", "b"], #"["a\"","","b"]"#)] as [([String], String)])
  func `a list of strings is written`(_ strings: [String], _ json: String) {
    var bytes: [UInt8] = []
    appendJSONStrings(strings, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == json)
  }

  @Test func `a byte is escaped wherever it stands`() throws {
    for size in 1...17 {
      for place in 0..<size {
        for byte in UInt8(0)..<128 {
          var text = [UInt8](repeating: UInt8(ascii: "a"), count: size)
          text[place] = byte
          let string = String(decoding: text, as: UTF8.self)
          var written: [UInt8] = []
          appendJSONString(string, to: &written)
          let isPlain = byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
          #expect((written.count == size + 2) == isPlain)
        }
      }
    }
  }

  @Test func `every scalar below U+0800 survives writing and reading`() throws {
    let string = String(String.UnicodeScalarView((0..<0x800).compactMap(Unicode.Scalar.init)))
    var bytes: [UInt8] = []
    appendJSONString(string, to: &bytes)
    #expect(try JSONParser().parse(bytes.span) { $0.string } == string)
  }

  @Test func `a presentation is written with its parts in order`() {
    let alert = AlertPresentation(title: "T", subtitle: "S", body: "B")
    #expect(
      json(Presentation(badge: 1, sound: "default", alert: alert))
        == #"{"badge":1,"sound":"default","alert":{"title":"T","subtitle":"S","body":"B","buttons":["Close","View"]}}"#
    )
  }

  @Test(arguments: [
    (Presentation(), "{}"),
    (Presentation(badge: 0), #"{"badge":0}"#),
    (Presentation(sound: "a\"b"), #"{"sound":"a\"b"}"#),
    (
      Presentation(badge: 2, alert: .init(body: "B", buttons: ["OK"])),
      #"{"badge":2,"alert":{"title":"","subtitle":"","body":"B","buttons":["OK"]}}"#
    ),
  ])
  func `a presentation is written without what it has not`(_ presentation: Presentation, _ text: String) {
    #expect(json(presentation) == text)
  }

  private static func offering(_ actions: [AlertAction]) -> AlertPresentation {
    var alert = AlertPresentation(title: "T")
    alert.actions = []
    alert.offer(actions)
    return alert
  }

  @Test(arguments: [
    Presentation(), Presentation(badge: .max), Presentation(badge: 3, sound: "é\n.caf"),
    Presentation(sound: "a", alert: .init(title: "T\"", buttons: ["Close", "\\"])),
    Presentation(alert: offering([])), Presentation(alert: offering([.init(id: "a", title: "\"")])),
    Presentation(alert: offering([.init(id: "a", title: "A", isDestructive: true), .init(id: "b", title: "B")])),
  ])
  func `Codable and appendJSON read each other`(_ presentation: Presentation) throws {
    let decoder = JSONDecoder()
    #expect(try decoder.decode(Presentation.self, from: Data(json(presentation).utf8)) == presentation)
    let encoder = JSONEncoder()
    #expect(try decoder.decode(Presentation.self, from: encoder.encode(presentation)) == presentation)
    #expect(try String(decoding: encoder.encode(Presentation(badge: 3)), as: UTF8.self) == #"{"badge":3}"#)
  }
}
