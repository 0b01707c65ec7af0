import Testing

@testable import TerminalUI

@Suite struct TerminalCapabilitiesTests {
  @Test func `the environment decides how a terminal is drawn on, and why`() {
    let table: [([String: String], TerminalCapabilities.Drawing, Bool, String)] = [
      (["TERM": "xterm-256color", "LANG": "C.UTF-8"], .full, true, "256 colors"),
      (["TERM": "tmux", "TMUX": "/tmp/x,1,0", "LANG": "de_DE.utf8"], .full, true, "TERM=tmux"),
      (["TERM": "xterm", "COLORTERM": "truecolor", "LC_CTYPE": "C.UTF-8"], .full, true, "256 colors"),
      (["TERM": "xterm", "LANG": "C.UTF-8"], .ascii, true, "TERM=xterm has 8 colors"),
      (["TERM": "linux", "LANG": "C.UTF-8"], .ascii, true, "TERM=linux has 8 colors"),
      (["TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C"], .ascii, false, "the locale C is not UTF-8"),
      (["TERM": "xterm-256color"], .ascii, false, "no locale is set"),
      (["TERM": "dumb", "LANG": "C.UTF-8"], .plain, true, "TERM is dumb"),
      (["LANG": "C.UTF-8"], .plain, true, "not set"),
    ]
    for (environment, drawing, encodesUTF8, words) in table {
      let form = TerminalCapabilities.detect(environment) { _ in 8 }
      #expect(form.drawing == drawing && form.encodesUTF8 == encodesUTF8, "\(environment)")
      #expect(form.reason.contains(words), "\(form.reason)")
    }
    let known = TerminalCapabilities.detect(["TERM": "st", "LANG": "C.UTF-8"]) { $0 == "st" ? 256 : nil }
    #expect(known.drawing == .full)
    #expect(TerminalCapabilities.detect(["TERM": "unheard-of", "LANG": "C.UTF-8"]) { _ in nil }.drawing == .ascii)
  }

  @Test func `half-circles are for terminals that are known to draw them, and that are looked at`() {
    let table: [([String: String], Bool)] = [
      (["TERM": "xterm-kitty"], true), (["TERM": "xterm-ghostty"], true), (["TERM": "wezterm"], true),
      (["TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"], true),
      (["TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"], true), (["TERM": "xterm-256color"], false),
      (["TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"], false), (["TERM": "foot"], false),
      (["TERM": "tmux-256color", "TMUX": "/tmp/x,1,0", "TERM_PROGRAM": "tmux"], false),
      // In tmux within WezTerm, over SSH or not.
      (["TERM": "tmux-256color", "TERM_PROGRAM": "WezTerm"], false),
      (["TERM": "xterm-kitty", "TMUX": "/tmp/x,1,0"], false),
      (["TERM": "screen-256color", "TERM_PROGRAM": "kitty"], false),
    ]
    for (environment, hasHalfCircles) in table {
      let form = TerminalCapabilities.detect(environment.merging(["LANG": "C.UTF-8"]) { $1 }) { _ in 256 }
      #expect(form.hasHalfCircles == hasHalfCircles, "\(environment)")
    }
    #expect(!TerminalCapabilities.detect(["TERM": "xterm-kitty", "LANG": "C"]) { _ in 256 }.hasHalfCircles)
  }

  @Test func `COLORFGBG names the background`() {
    let table: [(String?, Appearance?)] = [
      ("15;0", .dark), ("0;15", .light), ("0;default;7", .light), ("7;8", .dark), ("0;default", nil), ("", nil),
      (nil, nil),
      ("0;99", nil),
    ]
    for (value, appearance) in table {
      #expect(Appearance.reported(value.map { ["COLORFGBG": $0] } ?? [:]) == appearance)
    }
  }

  @Test func `terminfo tells the colors, in its old and its new form, and nothing else traps`() {
    func entry(_ magic: Int, names: Int, flags: Int, colors: [UInt8], size: Int) -> [UInt8] {
      func short(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8)] }
      let head = short(magic) + short(names) + short(flags) + short(20) + short(0) + short(0)
      let body = [UInt8](repeating: 65, count: names + flags)
      let gap = [UInt8](repeating: 0, count: (names + flags) % 2)
      return head + body + gap + [UInt8](repeating: 0, count: 13 * size) + colors
    }
    #expect(TerminalCapabilities.colorCount(entry: entry(0o432, names: 5, flags: 2, colors: [0, 1], size: 2)) == 256)
    #expect(TerminalCapabilities.colorCount(entry: entry(0o432, names: 5, flags: 3, colors: [8, 0], size: 2)) == 8)
    let wide = entry(0o1036, names: 4, flags: 2, colors: [0, 0, 0, 1], size: 4)
    #expect(TerminalCapabilities.colorCount(entry: wide) == 1 << 24)
    #expect(TerminalCapabilities.colorCount(entry: entry(0o432, names: 4, flags: 2, colors: [255, 255], size: 2)) == 0)
    let whole = entry(0o432, names: 5, flags: 2, colors: [0, 1], size: 2)
    for count in 0..<whole.count { _ = TerminalCapabilities.colorCount(entry: Array(whole.prefix(count))) }
    #expect(TerminalCapabilities.colorCount(entry: [UInt8](repeating: 0xFF, count: 64)) == nil)
    #expect(TerminalCapabilities.colorCount("../../etc/passwd") == nil && TerminalCapabilities.colorCount("") == nil)
  }

  @Test func `a frame is spelled in ASCII cell by cell, and letters stay where they arrive`() {
    func spelled(_ text: String, keepsLetters: Bool) -> String {
      var frame = Frame(size: Size(columns: 24, rows: 1))
      frame.write(text, column: 0, row: 0)
      frame.spellInASCII(keepsLetters: keepsLetters)
      return frame.text
    }
    #expect(spelled("╭─▸ Müller ◂ (12) ✓…", keepsLetters: true) == "+-> Müller < (12) x...")
    #expect(spelled("╭─▸ Müller ◂ 界x 😀", keepsLetters: false) == "+-> Muller < ? x ?")
    #expect(spelled("界x", keepsLetters: true) == "界x")
    // Truncated text ends in three dots where they fit, else in one ASCII character.
    #expect(spelled("Earth… 12", keepsLetters: true) == "Earth~ 12")
    #expect(spelled("Earth…   12 …", keepsLetters: true) == "Earth... 12 ...")
    #expect(spelled("An earthquake has str…", keepsLetters: true) == "An earthquake has str...")
    #expect(spelled("An earthquake has stru…", keepsLetters: true) == "An earthquake has stru~")
    var form = TerminalCapabilities.full
    form.encodesUTF8 = false
    #expect(form.spelled("Earth… für") == "Earth... fur")
  }
}
