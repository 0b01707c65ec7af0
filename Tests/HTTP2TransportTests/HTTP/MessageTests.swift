import PushCore
import PushTesting
import Testing

@testable import HTTP2Transport

@Suite struct MessageTests {
  @Test func `it keeps fields and body`() {
    let message = Message()
    message.maximumBodySize = 100
    message.keep(.method, "POST")
    message.keep(.apnsTopic, "com.example.news")
    message.keepBody(Array("ab".utf8))
    message.keepBody(Array("cd".utf8))
    #expect(message.text(.method) == "POST")
    #expect(message.text(.apnsTopic) == "com.example.news")
    #expect(message.bytes(.apnsID) == nil)
    #expect(message.has(.method, "POST"))
    #expect(!message.has(.method, "POS"))
    #expect(!message.has(.path, ""))
    #expect(message.body == Array("abcd".utf8))
    #expect(message.fieldsSize == 20)
  }

  @Test(arguments: HeaderName.allCases)
  func `a second field is a duplicate when it may come once, and the first holds`(_ name: HeaderName) {
    let message = Message()
    message.keep(name, "one")
    #expect(!message.hasDuplicateFields)
    message.keep(name, "two")
    #expect(message.hasDuplicateFields == name.mustBeSingle)
    #expect(message.text(name) == (name == .cookie ? "one; two" : "one"))
  }

  @Test func `cookies that follow one another are one value, others are dropped`() {
    let message = Message()
    for value in ["a=1", "", "b=2"] { message.keep(.cookie, value) }
    #expect(message.text(.cookie) == "a=1; ; b=2")
    message.keep(.accept, "x")
    message.keep(.cookie, "c=3")
    #expect(message.text(.cookie) == "a=1; ; b=2")
    #expect(message.text(.accept) == "x")
    message.reset()
    for _ in 0...Limits.maximumHeaderListSize { message.keep(.cookie, "") }
    #expect(message.fieldsSize <= Limits.maximumHeaderListSize)
  }

  @Test(arguments: [
    ("/ntfy/backup", true), ("/ntfy", true), ("/gotify/message?token=x", true), ("/3/device/ab", false),
    ("/send/backup", false), ("/n", false), ("/", false), ("/nothing", false), ("/gotify", false),
    ("/hooks/code", true), ("/hooks", false), ("/healthz", false), ("/webpush/a", true),
    ("/webpush", false),
  ])
  func `fields of other names are kept for webhooks and messages of other APIs`(_ path: String, _ isKept: Bool) {
    let message = Message()
    for (name, value) in [(":path", path), ("title", "Backup"), ("x-tags", "cd"), ("title", "other")] {
      let (name, value) = (Array(name.utf8), Array(value.utf8))
      let isWithin = unsafe name.withUnsafeBytes { name in
        unsafe value.withUnsafeBytes { unsafe message.receive(name, $0) }
      }
      #expect(isWithin)
    }
    #expect(message.otherFields.map(\.name) == (isKept ? ["title", "x-tags", "title"] : []))
    #expect(message.otherFields.map(\.value) == (isKept ? ["Backup", "cd", "other"] : []))
    message.reset()
    #expect(message.otherFields.isEmpty)
  }

  @Test func `its fields keep their bytes however many there are`() {
    let message = Message()
    for name in HeaderName.allCases { message.keep(name, String(repeating: name.wireName.description, count: 40)) }
    for name in HeaderName.allCases {
      #expect(message.text(name) == String(repeating: name.wireName.description, count: 40))
      #expect(message.has(name, beginningWith: name.wireName))
    }
    #expect(!message.has(.path, beginningWith: ":status"))
    message.reset()
    message.keep(.path, "/3")
    #expect(message.text(.path) == "/3")
    #expect(!message.has(.path, beginningWith: "/3/device/"))
  }

  @Test func `what forgets its fields may keep others`() {
    let message = Message()
    message.keep(.path, "/v1/device/stream")
    message.keep(.authorization, "bearer x")
    message.forgetFields()
    #expect(message.fieldsSize == 0)
    for name in HeaderName.allCases { #expect(message.bytes(name) == nil) }
    message.keep(.authorization, "bearer y")
    #expect(message.text(.authorization) == "bearer y")
    #expect(!message.hasDuplicateFields)
  }

  @Test func `an empty field is there`() {
    let message = Message()
    message.keep(.apnsCollapseID, "")
    #expect(message.bytes(.apnsCollapseID) == [])
    #expect(message.has(.apnsCollapseID, ""))
    message.keep(.apnsCollapseID, "")
    #expect(message.hasDuplicateFields)
  }

  @Test func `invalid UTF-8 is repaired in text and kept in bytes`() {
    let message = Message()
    unsafe [UInt8]([0x61, 0xFF]).withUnsafeBytes { unsafe message.append(.apnsCollapseID, $0) }
    #expect(message.text(.apnsCollapseID) == "a\u{FFFD}")
    #expect(message.bytes(.apnsCollapseID) == [0x61, 0xFF])
  }

  @Test func `every field counts its name, its value and 32 bytes, also one that nobody reads`() {
    let message = Message()
    func receive(_ name: String, _ value: String) -> Bool {
      unsafe Array(name.utf8).withUnsafeBytes { name in
        unsafe Array(value.utf8).withUnsafeBytes { unsafe message.receive(name, $0) }
      }
    }
    #expect(receive("apns-id", "12345"))
    #expect(message.fieldListSize == 7 + 5 + 32)
    #expect(receive("x-whatever", "x"))
    #expect(message.fieldListSize == 44 + 10 + 1 + 32)
    #expect(message.fieldsSize == 5)
    #expect(receive("x", String(repeating: "y", count: 16_000 - 87 - 33)))
    #expect(!receive("x", ""))
    message.reset()
    #expect(message.fieldListSize == 0)
  }

  @Test(arguments: [(0, 0), (3, 3), (4, 4), (5, 4), (100, 4)])
  func `the body is cut at the limit and counted beyond it`(_ size: Int, _ kept: Int) {
    let message = Message()
    message.maximumBodySize = 4
    for _ in 0..<size { message.keepBody([7]) }
    #expect(message.body.count == kept)
    #expect(message.bodySize == size)
  }

  @Test func `one piece that crosses the limit is cut`() {
    let message = Message()
    message.maximumBodySize = 4
    message.keepBody([1, 2])
    message.keepBody([3, 4, 5])
    #expect(message.body == [1, 2, 3, 4])
    #expect(message.bodySize == 5)
  }

  @Test(arguments: [10, 100_000])
  func `a message that is used again shows nothing of the one before`(_ size: Int) {
    let message = Message()
    message.maximumBodySize = .max
    message.keep(.authorization, "bearer secret")
    message.keep(.authorization, "bearer secret")
    message.keepBody([UInt8](repeating: 1, count: size))
    message.reset()
    #expect(message.body.isEmpty)
    #expect(message.bodySize == 0)
    #expect(message.maximumBodySize == 0)
    #expect(message.fieldsSize == 0)
    #expect(!message.hasDuplicateFields)
    for name in HeaderName.allCases { #expect(message.bytes(name) == nil) }
    message.keepBody([1])
    #expect(message.body.isEmpty)
  }
}
