import TerminalUI
import Testing

@testable import pushcli

@Suite struct PlainLineTests {
  @Test(arguments: [
    ("", PlainLine.again), ("   ", .again), ("7", .pick(7)), ("center", .word(.center, .nothing)),
    ("  CENTER ", .word(.center, .nothing)), ("open 3", .word(.open, .numbers([3]))),
    ("read 12", .word(.open, .numbers([12]))),
    ("clear 1 3-5,9", .word(.clear, .numbers([1, 3, 4, 5, 9]))), ("clear all", .word(.clear, .text("all"))),
    ("clear Family Album", .word(.clear, .text("Family Album"))), ("search a  b", .word(.search, .text("a  b"))),
    ("/train", .word(.search, .text("train"))), ("/ train ", .word(.search, .text("train"))),
    ("?", .word(.help, .nothing)), ("help open", .word(.help, .text("open"))), ("q", .word(.quit, .nothing)),
    ("link", .word(.link, .nothing)), ("set 3 off", .word(.set, .text("3 off"))), ("approve it", .other("approve it")),
    ("1 2", .other("1 2")), ("-3", .pick(-3)), ("close", .word(.close, .nothing)), ("centr", .other("centr")),
  ])
  func `a line is words of the table`(_ typed: String, _ line: PlainLine) {
    #expect(PlainLine(typed) == line)
  }

  @Test(arguments: [
    ("search", "search needs more: search TEXT [in WHERE], such as search train in unread"),
    ("/", "search needs more: search TEXT [in WHERE], such as search train in unread"),
    ("open x", "open takes the number of a push in the list, such as open 3, not \"x\""),
    ("open 1 2", "open takes the number of a push in the list, such as open 3, not \"1 2\""),
    (
      "open 99999999999999999999",
      "open takes the number of a push in the list, such as open 3, not \"99999999999999999999\""
    ),
    ("center now", "nothing comes after center: write center alone, not \"now\" after it"),
    ("clear", "clear needs more: clear NUMBER ... | APP | all, such as clear 2 4-6"),
  ])
  func `a wrong line says what is wrong and what is expected`(_ typed: String, _ words: String) {
    #expect(PlainLine(typed) == .wrong(words))
  }

  @Test(arguments: ["clear 5-3", "clear 1-2-3", "clear -1", "clear 1-", "clear 1-9223372036854775807", "clear 1-5001"])
  func `numbers that name nothing, or too much, are taken for a name`(_ typed: String) {
    #expect(PlainLine(typed) == .word(.clear, .text(String(typed.dropFirst(6)))))
  }

  @Test func `a line holds nothing that a terminal obeys, and an error repeats little of it`() {
    #expect(PlainLine("cen\u{1B}[Ater") == .word(.center, .nothing))
    guard case .wrong(let words) = PlainLine("open " + String(repeating: "x", count: 4_000)) else {
      Issue.record("it is wrong")
      return
    }
    #expect(words.count < 150)
  }

  @Test func `each word and each other word for it means one thing, and what needs more has an example`() {
    let names = PlainWord.all.flatMap(\.names)
    #expect(Set(names).count == names.count)
    #expect(Set(PlainWord.all.map(\.verb)) == Set(PlainWord.Verb.allCases))
    for word in PlainWord.all where word.isNeeded || word.rest == .number {
      #expect(PlainWord.named(String(word.example.prefix { $0 != " " }))?.verb == word.verb, "\(word.name)")
    }
  }
}
