import Testing

@testable import pushcli

@Suite struct OutputTailTests {
  private func lines(_ pieces: String...) -> [String] {
    var tail = OutputTail()
    for piece in pieces { tail.append(Array(piece.utf8)[...], of: 1) }
    return tail.lines
  }

  @Test(
    arguments: [
      ("one\ntwo\n", ["one", "two"]), ("one\r\n\r\n  \ntwo", ["one", "two"]), ("", []), ("\n \n", []),
      ("10%\r50%\r100%\ndone", ["100%", "done"]), ("100%\r", ["100%"]),
      ("\u{1B}[1;31mred\u{1B}[0m text\u{1B}[K", ["red text"]), ("\u{1B}]0;title\u{07}a\u{1B}]8;;x\u{1B}\\b", ["ab"]),
      ("\u{1B}(Bplain\u{1B}7\u{1B}[?25l", ["plain"]), ("\u{1B}[0m\n\u{1B}", []), ("a\u{1B}[31", ["a"]),
      ("a\u{8}\u{202E}b\tc", ["ab c"]), ("\u{1B}Pq\u{1B}\\x", ["x"]),
    ] as [(String, [String])])
  func `lines are kept as a terminal shows them, without what it obeys`(_ output: String, _ expected: [String]) {
    #expect(lines(output) == expected)
  }

  @Test func `the last lines are kept, however many there are`() {
    var tail = OutputTail()
    for number in 1...10_000 { tail.append(Array("line \(number)\n".utf8)[...], of: 1) }
    #expect(tail.lines == (9_981...10_000).map { "line \($0)" })
    tail.append(Array(String(repeating: "\n", count: 100).utf8)[...], of: 1)
    #expect(tail.lines.last == "line 10000")
  }

  @Test func `a line that is cut ends with an ellipsis, also one of a megabyte`() {
    let long = lines(String(repeating: "x", count: 1 << 20), "y", "\nend")
    #expect(long == [String(repeating: "x", count: OutputTail.maximumLineLength - 1) + "…", "end"])
    let whole = String(repeating: "é", count: OutputTail.maximumLineLength)
    #expect(lines(whole) == [whole])
  }

  @Test func `bytes that are no text become replacement characters`() {
    var tail = OutputTail()
    tail.append([0x61, 0xFF, 0x62], of: 1)
    #expect(tail.lines == ["a\u{FFFD}b"])
  }

  @Test func `lines of two streams are merged as they end`() {
    var tail = OutputTail()
    for (text, stream) in [("out", 1), ("error\n", 2), (" 1\n", 1), ("err", 2), ("last", 1)] as [(String, Int32)] {
      tail.append(Array(text.utf8)[...], of: stream)
    }
    #expect(tail.lines == ["error", "out 1", "last", "err"])
  }
}
