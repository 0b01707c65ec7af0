import PushPolicy
import Testing

@Suite struct PayloadLintTests {
  let linter = PayloadLint { $0.count }

  @Test(
    arguments: [
      ("", .json, ""), ("{", .json, ""), ("[]", .json, ""), ("{}", .aps, ""),
      (#"{"aps":{"badge":"3"}}"#, .b1, "/aps/badge"), (#"{"aps":{"sound":"../x.caf"}}"#, .s1, "/aps/sound"),
      (#"{"aps":{"vibrate":1}}"#, .s3, "/aps/vibrate"), (#"{"aps":{"category":7}}"#, .aps, "/aps/category"),
      (#"{"aps":{"sound":"ding.mp3"}}"#, .s1, "/aps/sound"),
      (#"{"aps":{"contentAvailable":1}}"#, .aps, "/aps/contentAvailable"),
      (#"{"aps":{"customer/id":1}}"#, .aps, "/aps/customer~1id"),
    ] as [(String, LintRule, String)])
  func `what is wrong is found where it is`(_ text: String, _ rule: LintRule, _ pointer: String) {
    let findings = lint(text)
    #expect(findings.map(\.rule) == [rule])
    #expect(findings.map(\.pointer) == [pointer])
  }

  @Test func `A9: advertising is a warning that quotes it`() throws {
    func found(_ body: String) -> LintFinding? {
      lint(#"{"aps":{"alert":{"title":"Spring Shop","body":"\#(body)"}}}"#).first { $0.rule == .a9 }
    }
    let finding = try #require(found("Flash sale! Up to 70% off everything, today only. Shop now!"))
    #expect((finding.pointer, finding.severity) == ("/aps/alert", .warning))
    #expect(finding.message.contains("\"Up to 70% off everything\""))
    #expect(found("Your parcel is with the neighbour at number 4.") == nil)
  }

  @Test func `a misspelt key is told how it is spelt`() {
    #expect(lint(#"{"aps":{"contentAvailable":1}}"#).map(\.advice) == [#""content-available""#])
    #expect(lint(#"{"aps":{"Thread_ID":"x"}}"#).map(\.advice) == [#""thread-id""#])
  }

  @Test func `a payload has a size`() {
    func payload(_ size: Int, _ more: String = "") -> String {
      let start = #"{"aps":{"badge":1},\#(more)"x":""#
      return start + String(repeating: "x", count: size - start.utf8.count - 2) + #""}"#
    }
    #expect(lint(payload(4096)).isEmpty)
    #expect(lint(payload(4097)).map(\.severity) == [.error])
    #expect(lint(payload(5000, #""Simulator Target Bundle":"a.b","#)).isEmpty)
    let voip = PayloadLint(maximumSize: 5120) { $0.count }
    #expect(voip.findings(in: Array(payload(5120).utf8)).isEmpty)
    #expect(
      voip.findings(in: Array(payload(5121).utf8)).map(\.message)
        == ["the file has 5121 bytes; payloads have at most 5120"])
  }

  @Test(arguments: [
    #"{"aps":{"alert":{"title":"Train Delayed","body":"It comes at noon."},"badge":1,"sound":"chime.caf","category":"c"}}"#,
    #"{"aps":{"content-available":1},"own":{"keys":[1]}}"#,
    #"{"Simulator Target Bundle":"a.b","aps":{"alert":{"title-loc-key":"K","loc-key":"L","loc-args":["you"]}}}"#,
  ])
  func `a good payload has no finding`(_ text: String) { #expect(lint(text).isEmpty) }

  @Test func `X4: a category has at most four actions`() {
    func category(_ count: Int) -> String {
      let actions = (0..<count).map { #"{"id":"a\#($0)","title":"Reply"}"# }.joined(separator: ",")
      return #"{"category":"c","actions":[\#(actions)]}"#
    }
    #expect(lint(category(4)).isEmpty)
    #expect(lint(category(5)).map(\.rule) == [.x4])
    #expect(lint(#"{"categories":[\#(category(1)),\#(category(5))]}"#).map(\.pointer) == ["/categories/1/actions"])
  }

  @Test func `X3: an action sheet has its own Cancel`() {
    let text = #"{"category":"c","actions":[{"id":"a","title":"Cancel"},{"id":"b","title":"Reply"}]}"#
    #expect(lint(text).map(\.rule) == [.x3])
  }

  @Test func `only the text that breaks a rule is changed`() {
    let text = """
      { "z": {"aps": {"alert": {"title": "left alone."}}, "s": "\\"}{", "n": [1, -2.5e3, {"title": "x."}]},
        "aps" : { "badge":1, "alert" : {"body": "caf\\u00e9 is open", "title":"train \\"ICE\\" delayed."} } }

      """
    let expected = """
      { "z": {"aps": {"alert": {"title": "left alone."}}, "s": "\\"}{", "n": [1, -2.5e3, {"title": "x."}]},
        "aps" : { "badge":1, "alert" : {"body": "Café is open.", "title":"Train \\"ICE\\" Delayed"} } }

      """
    let fixed = linter.fixed(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    #expect(fixed == expected)
    #expect(linter.fixed(Array(expected.utf8)) == nil, "what is mended stays as it is")
  }

  @Test func `an alert that is a string and a button are mended, too`() {
    for (text, expected) in [
      (#"{"aps":{"alert":"the train is late"}}"#, #"{"aps":{"alert":"The train is late."}}"#),
      (
        #"{"aps":{"alert":{"title":"Order Shipped","action-loc-key":"track!"}}}"#,
        #"{"aps":{"alert":{"title":"Order Shipped","action-loc-key":"Track"}}}"#
      ),
      (
        #"{"category":"c","actions":[{"id":"a","title":"Reply"},{"title":"snooze"}]}"#,
        #"{"category":"c","actions":[{"id":"a","title":"Reply"},{"title":"Snooze"}]}"#
      ),
    ] {
      #expect(linter.fixed(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } == expected)
    }
  }

  @Test func `no text crashes it, and what is mended needs no mending`() throws {
    var generator = SeededGenerator(state: 5)
    let pieces = [
      "the ", "A ", "?", "!", ". ", "…", "ÄÖ", "ß", "你", "。", "\u{200B}", "e\u{301}", "👩‍👩‍👧", "\n", "\"", "\\", "Mr. ",
      "iPhone ",
      "%@", "http://a.b/c ", "ERROR ", "don't ", "—", "العربية ", "ไทย", "\u{202E}", "0", "-", "'", "a.m. ",
    ]
    for _ in 0..<1000 {
      func text() -> String {
        (0..<Int.random(in: 0..<8, using: &generator)).map { _ in pieces.randomElement(using: &generator)! }.joined()
      }
      let (title, body, button) = (string(text()), string(text()), string(text()))
      let payload = #"{"aps":{"alert":{"title":\#(title),"body":\#(body),"action-loc-key":\#(button)}}}"#
      for finding in lint(payload) {
        #expect(finding.pointer.hasPrefix(finding.rule == .a9 ? "/aps/alert" : "/aps/alert/"))
      }
      guard let fixed = linter.fixed(Array(payload.utf8)) else { continue }
      _ = try JSONParser().payload(fixed.span)
      #expect(linter.fixed(fixed) == nil, "\(payload)")
    }
  }
}
