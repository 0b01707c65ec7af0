import Testing

@testable import PushCore

@Suite struct TraceParentTests {
  static let sample = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  func read(_ text: String) -> TraceParent? { TraceParent(Array(text.utf8).span) }

  @Test func `a traceparent keeps its text`() { #expect(read(Self.sample)?.text == Self.sample) }

  @Test func `a newer version is read as far as this one goes`() {
    let newer = "cc" + Self.sample.dropFirst(2)
    #expect(read(newer)?.text == newer)
    #expect(read(newer + "-what-comes")?.text == newer)
    #expect(read(newer + ".what") == nil)
  }

  @Test(
    arguments: [
      "", "00", "00-", String(sample.dropLast()), sample + "0", sample + "-x", sample.uppercased(),
      "ff" + sample.dropFirst(2), "0g" + sample.dropFirst(2), sample.replacing("-", with: "_"),
      sample.replacing("4bf92f3577b34da6a3ce929d0e0e4736", with: String(repeating: "0", count: 32)),
      sample.replacing("00f067aa0ba902b7", with: String(repeating: "0", count: 16)),
      sample.replacing("4bf9", with: "4b\u{1b}9"), String(repeating: "é", count: 27) + "a",
    ])
  func `what is none is ignored`(_ text: String) { #expect(read(text) == nil) }
}
