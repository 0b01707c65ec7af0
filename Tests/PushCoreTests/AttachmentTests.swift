import Testing

@testable import PushCore

@Suite struct AttachmentTests {
  @Test(arguments: [
    ("report.txt", "report.txt"), ("/etc/passwd", "passwd"), (#"C:\fakepath\a b.pdf"#, "a b.pdf"),
    ("../../x", "x"), ("..", "attachment"), ("", "attachment"), ("a/", "attachment"), (".bashrc", "bashrc"),
    ("a\nb\u{1B}[2J\u{7F}.txt", "ab[2J.txt"), ("gpj.\u{202E}exe.jpg\u{202C}", "gpj.exe.jpg"), ("  a . ", "a"),
    ("Ärger 📰.txt", "Ärger 📰.txt"), ("a\u{2028}b\u{200B}c", "abc"), (#"say "hi".txt"#, #"say "hi".txt"#),
  ])
  func `the name of an attachment has no path and nothing invisible`(_ name: String, _ expected: String) {
    #expect(AttachmentName.sanitized(name) == expected)
  }

  @Test func `a long name keeps its ending, and is cut between characters`() {
    let long = AttachmentName.sanitized(String(repeating: "ä", count: 100) + ".txt")
    #expect(long == String(repeating: "ä", count: 62) + ".txt")
    let ending = AttachmentName.sanitized("a." + String(repeating: "b", count: 200))
    #expect(ending.utf8.count == Limits.maximumAttachmentName)
    #expect(AttachmentName.sanitized(ending) == ending)
    let combined = AttachmentName.sanitized("e" + String(repeating: "\u{301}", count: 10_000))
    #expect(combined.utf8.count <= Limits.maximumAttachmentName)
  }

  @Test(
    arguments: [
      ("text/plain; charset=utf-8", AttachmentType.text), ("IMAGE/PNG", .png), ("text/html", .other),
      ("image/svg+xml", .other), ("", .other), (nil, .other), ("application/pdf", .pdf),
    ] as [(String?, AttachmentType)])
  func `only harmless types are served as such`(_ type: String?, _ expected: AttachmentType) {
    #expect(AttachmentType(contentType: type) == expected)
  }

  @Test(
    arguments: [
      (nil, "a.PNG", AttachmentType.png), ("application/octet-stream", "a.log", .text), ("text/html", "a.html", .other),
      ("image/gif", "a.txt", .gif), ("application/x-www-form-urlencoded", "a", .other), (nil, "a.", .other),
    ] as [(String?, String, AttachmentType)])
  func `a file without a served type has that of its name`(
    _ type: String?, _ name: String, _ expected: AttachmentType
  ) {
    #expect(AttachmentType(contentType: type, name: name) == expected)
  }

  @Test func `an id has 32 lower-case hex digits`() {
    let id = AttachmentReference.randomID()
    #expect(AttachmentReference.isID(id) && id != AttachmentReference.randomID())
    let start = String(id.dropLast())
    for text in ["", start, id + "0", start + "A", start + "g", start + "/"] {
      #expect(!AttachmentReference.isID(text), "\(text)")
    }
  }

  private static let id = "0123456789abcdef0123456789abcdef"

  @Test(
    arguments: [
      (#"{"attachment":{"id":"\#(id)","name":"a.txt","type":"text/plain","size":5}}"#, "a.txt"),
      (#"{"attachment":{"id":"\#(id)","name":"../\u001b[2J","type":"x","size":0}}"#, "[2J"),
      (#"{"attachment":{"id":"\#(id)","name":"a","size":1048577}}"#, nil),
      (#"{"attachment":{"id":"\#(id)","name":"a","size":-1}}"#, nil),
      (#"{"attachment":{"id":"../device","name":"a","size":1}}"#, nil), (#"{"attachment":"https://a.example"}"#, nil),
      (#"{"attachment":[]}"#, nil), ("{}", nil), ("", nil), ("[", nil),
    ] as [(String, String?)])
  func `only a complete description in a payload is an attachment`(_ payload: String, _ name: String?) {
    #expect(AttachmentReference(payload: Array(payload.utf8))?.name == name)
  }

  @Test(arguments: [(0, "0 bytes"), (999, "999 bytes"), (1_000, "1 KB"), (12_345, "12 KB"), (1 << 20, "1 MB")])
  func `a size is short`(_ size: Int, _ expected: String) {
    #expect(AttachmentReference(id: "", name: "", type: .other, size: size).sizeText == expected)
  }
}
