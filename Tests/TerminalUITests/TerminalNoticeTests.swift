import Testing

@testable import TerminalUI

@Suite struct TerminalNoticeTests {
  @Test(arguments: [
    (["TERM": "xterm-kitty"], TerminalNotice.Form.osc99), (["TERM": "foot"], .osc777),
    (["VTE_VERSION": "7600"], .osc777),
    (["TERM_PROGRAM": "iTerm.app"], .osc9), (["TERM": "xterm-256color"], .bell),
  ])
  func `the terminal's way is found by its variables`(_ environment: [String: String], _ form: TerminalNotice.Form) {
    #expect(TerminalNotice.detect(environment, isPassedThrough: false) == .init(form: form, isWrapped: false))
    let tmux = environment.merging(["TMUX": "/tmp/tmux"]) { $1 }
    #expect(TerminalNotice.detect(tmux, isPassedThrough: true) == .init(form: form, isWrapped: true))
    #expect(TerminalNotice.detect(tmux, isPassedThrough: false).form == .bell)
  }

  @Test func `each form is spelt as its terminals read it`() {
    func text(_ form: TerminalNotice.Form, wrapped: Bool = false) -> String {
      TerminalNotice(form: form, isWrapped: wrapped).sequence(
        app: "News", title: "Hi; you", body: "B", id: "pushgateway-1")
    }
    #expect(
      text(.osc99)
        == "\u{1B}]99;i=pushgateway-1:d=0:e=1;SGk7IHlvdQ==\u{1B}\\\u{1B}]99;i=pushgateway-1:p=body:e=1;Qg==\u{1B}\\\u{7}"
    )
    #expect(text(.osc777) == "\u{1B}]777;notify;Hi, you;B\u{1B}\\\u{7}")
    #expect(text(.osc9) == "\u{1B}]9;News: Hi; you: B\u{1B}\\\u{7}")
    #expect(text(.bell) == "\u{7}")
    #expect(text(.osc9, wrapped: true) == "\u{1B}Ptmux;\u{1B}\u{1B}]9;News: Hi; you: B\u{1B}\u{1B}\\\u{1B}\\\u{7}")
  }

  @Test func `a sender's text can't end the sequence`() {
    for form in TerminalNotice.Form.allCases {
      let sequence = TerminalNotice(form: form, isWrapped: false)
        .sequence(app: "News", title: "a\u{7}\u{1B}\\\u{9C}b", body: "\u{1B}]0;owned\u{7}", id: "pushgateway-1")
      #expect(sequence.filter { $0 == "\u{7}" }.count == 1)
      #expect(!sequence.contains("\u{9C}") && !sequence.contains("\u{1B}]0"))
    }
    #expect(Terminal.clipboardSequence("a\u{1B}b\nc") == "\u{1B}]52;c;YWIKYw==\u{7}")
  }

  @Test(arguments: ["4;3;100", "9;C:\\", "", "6"])
  func `OSC 9 begins with the app's name, which no text can take for a command`(_ title: String) {
    func sequence(_ app: String) -> String {
      TerminalNotice(form: .osc9, isWrapped: false).sequence(app: app, title: title, body: "B", id: "pushgateway-1")
    }
    #expect(sequence("News").hasPrefix("\u{1B}]9;News: "))
    #expect(sequence("4;3").hasPrefix("\u{1B}]9;4,3: "))
  }

  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"), ("ÿþ👍", "w7/DvvCfkY0="),
  ])
  func `the clipboard's text is base64 (RFC 4648 §10)`(_ text: String, _ encoded: String) {
    #expect(Terminal.clipboardSequence(text) == "\u{1B}]52;c;\(encoded)\u{7}")
  }
}
