import Testing

@testable import pushcli

@Suite struct InputLinesTests {
  /// Returns the lines of pieces of an input, at its end also the last one.
  private func lines(_ pieces: [String], maximumSize: Int = 8) -> [InputLines.Line] {
    var input = InputLines(maximumSize: maximumSize)
    let found = pieces.flatMap { input.take(Array($0.utf8)) }
    return found + [input.end()].compactMap(\.self)
  }

  private func line(_ text: String) -> InputLines.Line { .bytes(Array(text.utf8)) }

  @Test func `lines end at line ends, wherever the pieces end`() {
    #expect(lines(["one\ntwo\n"]) == [line("one"), line("two")])
    #expect(lines(["o", "ne\r", "\n", "\ntwo"]) == [line("one"), line(""), line("two")])
    #expect(lines([]) == [])
    #expect(lines(["", "\n"]) == [line("")])
  }

  @Test func `a line beyond the limit is not kept, and the next one is`() {
    #expect(lines(["12345678\n"]) == [line("12345678")])
    #expect(lines(["123456789\nnext\n"]) == [.tooLong, line("next")])
    #expect(lines(["1234", "56789", "0123456789\nnext"]) == [.tooLong, line("next")])
    #expect(lines(["123456789"]) == [.tooLong])
  }
}
