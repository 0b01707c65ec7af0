import Testing

@testable import TerminalUI

@Suite struct DisplayWidthTests {
  @Test(arguments: [
    ("", 0), ("News", 4), ("é", 1), ("e\u{301}", 1), ("─│╭", 3), ("◖12◗", 4), ("…", 1), ("Ж", 1),
    ("你好", 4), ("ｆｕｌｌ", 8), ("カナ", 4), ("ｶﾅ", 2), ("한글", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("、", 2),
    ("😀", 2), ("👍🏽", 2), ("👨‍👩‍👧‍👦", 2), ("👩‍💻", 2), ("🇨🇱", 2), ("🏴󠁧󠁢󠁳󠁣󠁴󠁿", 2), ("1️⃣", 2), ("❤️", 2), ("❤", 1), ("☎︎", 1),
    ("⌚", 2), ("✅", 2), ("ไทย", 3), ("ที่", 1), ("שלום", 4), ("\u{200B}", 0), ("\u{301}", 0), ("\u{7}", 0), ("\u{9B}", 0),
  ])
  func `text takes the columns that terminals give it`(_ text: String, _ columns: Int) {
    #expect(DisplayWidth.of(text) == columns)
  }
}
