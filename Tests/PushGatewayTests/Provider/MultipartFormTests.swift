import PushCore
import Testing

@testable import PushGateway

@Suite struct MultipartFormTests {
  private static let type = "multipart/form-data; boundary=b"
  private static let start = "--b\r\nContent-Disposition: form-data; "

  private func parts(_ body: String, _ type: String = MultipartFormTests.type) throws(MessageRefusal) -> [String] {
    try MultipartForm(Array(body.utf8), contentType: type).parts.map { part in
      let file = part.fileName.map { " file \($0)" } ?? ""
      let type = part.contentType.map { " type \($0)" } ?? ""
      return "\(part.name)\(file)\(type): \(String(decoding: part.content, as: UTF8.self))"
    }
  }

  static let cases: [(String, [String])] = [
    ("--b--", []), ("--b--\r\n", []),
    ("\(start)name=\"title\"\r\n\r\nBackup\r\n--b--\r\n", ["title: Backup"]),
    ("\(start)name=title\r\n\r\n\r\n--b--", ["title: "]),
    (
      "\(start)name=\"a\"\r\n\r\n1\r\n2\r\n\(start)name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\n"
        + "-\r\r\n-\r\n--c\r\n--b--\r\n",
      ["a: 1\r\n2", "f file x.txt type text/plain: -\r\r\n-\r\n--c"]
    ),
    ("\(start)filename=\"a;b=\\\"c\\\\.txt\"; name=\"f\"\r\n\r\nx\r\n--b--", ["f file a;b=\"c\\.txt: x"]),
    ("\(start)name=\"f\"; filename=\"C:\\a%22%0D%0Ab%2F.txt\"\r\n\r\nx\r\n--b--", ["f file C:\\a\"\r\nb%2F.txt: x"]),
    ("\(start)name=\"f\"; filename=\"\"\r\n\r\n\r\n--b--", ["f file : "]),
    ("--b\r\nx-other: 1\r\nCONTENT-DISPOSITION:form-data ;name=\"é\"\r\n\r\n1\r\n--b--", ["é: 1"]),
    ("\(start)name=a\r\nContent-Transfer-Encoding: binary\r\n\r\n1\r\n--b--", ["a: 1"]),
  ]

  @Test(arguments: cases) func `a form has its parts`(_ body: String, _ expected: [String]) throws {
    let found = try parts(body)
    #expect(found == expected)
  }

  @Test func `a boundary can be quoted, and is found after other parameters`() throws {
    let body = "--a b'\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--a b'--"
    let found = try parts(body, #"multipart/form-data; charset=utf-8; boundary="a b'""#)
    #expect(found == ["a: 1"])
  }

  static let broken: [(String, String, String)] = [
    ("--b--", "multipart/form-data", "no boundary"), ("--b--", "multipart/form-data; boundary=", "no boundary"),
    ("--b--", "multipart/form-data; boundary=b; boundary=b", "no boundary"),
    ("--b--", "multipart/form-data; boundary=\"b", "no boundary"),
    ("--b--", "multipart/form-data; boundary=\"b\r\nb\"", "no boundary"),
    ("--b--", "multipart/form-data; boundary=" + String(repeating: "b", count: 71), "no boundary"),
    ("", type, "does not begin"), ("\r\n--b--", type, "does not begin"), ("preamble\r\n--b--", type, "does not begin"),
    ("--b", type, "without a line end"), ("--b\n", type, "without a line end"),
    ("--b \r\n", type, "without a line end"),
    ("--b--x", type, "after its end"), ("--b--\r\n--b--", type, "after its end"),
    ("\(start)name=a\r\n\r\n1", type, "does not end"), ("\(start)name=a\r\n\r\n1\n--b--", type, "does not end"),
    ("\(start)name=a\r\n\r\n1\r\n--bb\r\n--b--", type, "without a line end"),
    ("\(start)name=a\r\n", type, "incomplete"), ("\(start)name=a\n\n1\r\n--b--", type, "has no name"),
    ("\(start)name=a\r\nx: " + String(repeating: "y", count: Limits.maximumPartHead), type, "incomplete"),
    ("--b\r\n\r\n1\r\n--b--", type, "has no name"), ("\(start)name=\"\"\r\n\r\n1\r\n--b--", type, "has no name"),
    ("\(start)name=\"a\r\n\r\n1\r\n--b--", type, "has no name"),
    ("\(start)name=a; name=b\r\n\r\n1\r\n--b--", type, "has no name"),
    ("\(start)filename=a\r\n\r\n1\r\n--b--", type, "has no name"),
    ("--b\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--b--", type, "has no name"),
    ("\(start)name=a\r\nContent-Disposition: form-data; name=b\r\n\r\n1\r\n--b--", type, "twice"),
    ("\(start)name=a\r\n folded\r\n\r\n1\r\n--b--", type, "expected NAME: VALUE"),
    ("\(start)name=a\r\nnothing\r\n\r\n1\r\n--b--", type, "expected NAME: VALUE"),
    ("\(start)name=a\r\nContent-Transfer-Encoding: base64\r\n\r\n1\r\n--b--", type, "encoding base64"),
  ]

  @Test(arguments: broken) func `a broken form is refused in one line`(_ body: String, _ type: String, _ words: String)
  {
    do throws(MessageRefusal) {
      _ = try parts(body, type)
      Issue.record("accepted")
    } catch {
      #expect(error.status == 400 && error.message.contains(words), "\(error.message)")
      #expect(!error.message.contains("\n"))
    }
  }

  @Test func `the number of parts is limited`() throws {
    let part = "\(MultipartFormTests.start)name=a\r\n\r\n1\r\n"
    let most = String(repeating: part, count: Limits.maximumFormParts)
    let found = try parts(most + "--b--")
    #expect(found.count == Limits.maximumFormParts)
    #expect(throws: MessageRefusal.self) { _ = try parts(most + part + "--b--") }
  }

  @Test func `any bytes are content`() throws {
    let content = (0...255).map { UInt8($0) } + Array("\r\n-\r\n--\r\n--B\r".utf8)
    let head = Array("\(MultipartFormTests.start)name=f; filename=a\r\n\r\n".utf8)
    let form = try MultipartForm(head + content + Array("\r\n--b--".utf8), contentType: MultipartFormTests.type)
    #expect(form.parts.first.map { Array($0.content) } == content)
  }

  @Test func `a form that ends anywhere is refused`() throws {
    let body = Array("\(MultipartFormTests.start)name=f; filename=\"a\"\r\nContent-Type: a/b\r\n\r\nx\r\n--b--".utf8)
    for size in 0..<body.count {
      #expect(throws: MessageRefusal.self, "\(size)") {
        _ = try MultipartForm(Array(body.prefix(size)), contentType: MultipartFormTests.type)
      }
    }
  }
}
