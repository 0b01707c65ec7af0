import Testing

@testable import TerminalUI

@Suite struct KeyParserTests {
  private static let longAnswer = "\u{1B}]11;rgb:" + String(repeating: "f", count: 100)

  static let table: [(String, [Key])] = [
    ("v", [.character("v")]),
    (" Q~", [.character(" "), .character("Q"), .character("~")]),
    ("é€👍", [.character("é"), .character("€"), .character("👍")]),
    ("\r\n", [.return, .return]),
    ("\t\u{7F}\u{8}", [.tab, .backspace, .backspace]),
    ("\u{3}\u{4}\u{C}\u{1A}", [.control("c"), .control("d"), .redraw, .suspend]),
    ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]),
    ("\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD\u{1B}OM", [.up, .down, .right, .left, .return]),
    ("\u{1B}[1;5C", [.right]),
    ("\u{1B}[Z", [.backTab]),
    ("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~", [.home, .end, .home, .end]),
    ("\u{1B}[5~\u{1B}[6~\u{1B}[3~", [.pageUp, .pageDown, .delete]),
    ("\u{1B}q", [.escape, .character("q")]),
    ("\u{1B}\u{1B}[A", [.escape, .up]),
    ("\u{1B}[15~\u{1B}[[Ax", [.character("x")]),
    ("\u{1B}[200~rm -rf\r\u{3}\u{1B}[201~v", [.character("v")]),
    ("\u{1B}[" + String(repeating: "9", count: 100) + "~v", [.character("v")]),
    ("\u{1B}[<0;10;5M\u{1B}[<0;10;5m", [.mouse(Mouse(.press, column: 9, row: 4))]),
    (
      "\u{1B}[<64;1;1M\u{1B}[<65;200;60M\u{1B}[<68;1;1M",
      [
        .mouse(Mouse(.wheelUp, column: 0, row: 0)), .mouse(Mouse(.wheelDown, column: 199, row: 59)),
        .mouse(Mouse(.wheelUp, column: 0, row: 0)),
      ]
    ),
    ("\u{1B}[<2;1;1M\u{1B}[<32;1;1M\u{1B}[<0;0;1M\u{1B}[<0;99999999999999999999;1M\u{1B}[<0;1Mv", [.character("v")]),
    ("\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\v", [.background(.light), .character("v")]),
    ("\u{1B}]11;rgba:00/2b/36/ff\u{7}v", [.background(.dark), .character("v")]),
    ("\u{1B}]11;rgb:zz/2b/36\u{7}v", [.character("v")]),
    ("\(longAnswer)\u{7}v", [.character("v")]),
    ("\(longAnswer):0/0/0\u{1B}\\v", [.character("v")]),
    ("\u{1B}]11;rgb:ffff/ff\u{3}v", [.control("c"), .character("v")]),
    ("\u{1B}]11;rgb:ffff/ff\u{1B}[Av", [.up, .character("v")]),
    ("\u{1B}]x", [.escape, .character("]"), .character("x")]),
  ]

  @Test(arguments: table)
  func `bytes become keys`(_ bytes: String, _ keys: [Key]) {
    var parser = KeyParser()
    #expect(parser.feed(bytes.utf8) == keys)
    #expect(!parser.isPending)
  }

  @Test(arguments: table)
  func `it does not matter where reads are split`(_ bytes: String, _ keys: [Key]) {
    var parser = KeyParser()
    #expect(bytes.utf8.flatMap { parser.feed(CollectionOfOne($0)) } == keys)
  }

  @Test func `a lone ESC is the Escape key once nothing follows`() {
    var parser = KeyParser()
    #expect(parser.feed([0x1B]) == [])
    #expect(parser.isPending)
    #expect(parser.flush() == [.escape])
    #expect(!parser.isPending)
    #expect(parser.feed("\u{1B}[".utf8) + parser.flush() == [])
  }

  @Test func `the rest of an answer is waited for, but not for ever`() {
    var parser = KeyParser()
    #expect(parser.feed("\u{1B}]11;rgb:ff".utf8) + parser.flush() + parser.flush() == [])
    #expect(parser.feed("ff/ffff/ffff\u{7}".utf8) == [.background(.light)])
    #expect(parser.feed("\u{1B}]11;rgb:ff".utf8) == [])
    for _ in 0..<100 where parser.isPending { #expect(parser.flush() == []) }
    #expect(parser.feed("v".utf8) == [.character("v")])
  }

  @Test(arguments: 0..<100) func `an answer of any length is dropped up to its end`(_ length: Int) {
    var parser = KeyParser()
    #expect(parser.feed("\u{1B}]11;rgb:\(String(repeating: "f", count: length))\u{1B}\\v".utf8) == [.character("v")])
  }

  @Test func `an answer without an end discards a limited number of keys`() {
    var parser = KeyParser()
    let keys = parser.feed("\u{1B}]11;rgb:".utf8) + parser.feed(String(repeating: "v", count: 2_000).utf8)
    #expect((900..<1_000).contains(keys.count))
    #expect(keys.allSatisfy { $0 == .character("v") })
  }

  @Test func `the rest of a long answer is dropped if it does not come`() {
    var parser = KeyParser()
    #expect(parser.feed("\u{1B}]11;rgb:".utf8) + parser.feed(String(repeating: "f", count: 100).utf8) == [])
    for _ in 0..<100 where parser.isPending { #expect(parser.flush() == []) }
    #expect(parser.feed("v".utf8) == [.character("v")])
  }

  @Test func `broken UTF-8 is dropped and what follows is kept`() {
    var parser = KeyParser()
    let bytes: [UInt8] = [0xC3, 0x61, 0xFF, 0xC0, 0x80, 0xED, 0xA0, 0x80, 0xC2, 0x9B, 0x62]
    #expect(parser.feed(bytes) == [.character("a"), .character("b")])
  }
}
