import PushPolicy
import Testing

/// Returns the findings of a lint for which a wide character has two columns and any other has one.
func lint(_ payload: String) -> [LintFinding] {
  let lint = PayloadLint { text in text.reduce(0) { $0 + ($1.unicodeScalars.first!.value >= 0x1100 ? 2 : 1) } }
  return lint.findings(in: Array(payload.utf8))
}

func string(_ text: String) -> String {
  var bytes: [UInt8] = []
  appendJSONString(text, to: &bytes)
  return String(decoding: bytes, as: UTF8.self)
}

@Suite struct AlertLintTests {
  /// Returns the rules that a title violates, and the repaired text.
  func title(_ title: String, body: String = "") -> (rules: [LintRule], fix: String?) {
    let body = body.isEmpty ? "" : #","body":\#(string(body))"#
    let findings = lint(#"{"aps":{"alert":{"title":\#(string(title))\#(body)}}}"#)
      .filter { $0.pointer == "/aps/alert/title" }
    return (findings.map(\.rule), findings.compactMap(\.fix).first)
  }

  func body(_ body: String) -> (rules: [LintRule], fix: String?) {
    let findings = lint(#"{"aps":{"alert":{"title":"Order Shipped","body":\#(string(body))}}}"#)
    return (findings.map(\.rule), findings.compactMap(\.fix).first)
  }

  func button(_ button: String) -> [LintRule] {
    lint(#"{"aps":{"alert":{"title":"Order Shipped","action-loc-key":\#(string(button))}}}"#).map(\.rule)
  }

  @Test(arguments: [
    "Train in 5 Minutes", "Payment of €20 Declined", "New Message From Anna", "Delete this message?",
    "The train is late. It comes at 12:30.", "Build Failed on Main", "Sign In to Continue", "iPhone Found",
    "Version 2.0 Is Out", "Meeting at 3 p.m.", "NASA and ESA Agree", "Update: The Week in Review",
    "服务器 web-3 没有响应", "快递已到达菜鸟驿站", "要删除这条消息吗？", "Zug hat Verspätung", "Commande expédiée", "Поезд опаздывает",
    "配達が完了しました", "배송이 완료되었습니다", "تم شحن الطلب", "הרכבת מאחרת", "รถไฟมาถึงแล้ว", "Paket unterwegs zum Kunden",
  ])
  func `a good title has no finding`(_ text: String) {
    #expect(title(text).rules.isEmpty, "\(title(text))")
  }

  @Test func `T1: an alert has a title`() {
    #expect(lint(#"{"aps":{"alert":{"body":"The train is late."}}}"#).map(\.rule) == [.t1])
    #expect(lint(#"{"aps":{"alert":{"title":"","body":"The train is late."}}}"#).map(\.rule) == [.t1])
    #expect(lint(#"{"aps":{"alert":"The train is late."}}"#).map(\.rule) == [.t1])
    for alert in [#"{"title":"Train Delayed"}"#, #"{"title-loc-key":"TRAIN_LATE"}"#] {
      #expect(lint(#"{"aps":{"alert":\#(alert)}}"#).isEmpty)
    }
    #expect(lint(#"{"aps":{"badge":1}}"#).isEmpty)
  }

  @Test func `T2: a title fits one line`() {
    #expect(title("A Title That Takes Exactly Forty Columns").rules.isEmpty)
    #expect(title("A Title That Takes Just Over Forty Column").rules == [.t2])
    #expect(title("这个标题正好有二十个汉字的宽度就是四十列").rules.isEmpty)
    #expect(title("这个标题比二十个汉字的宽度多出了一个汉字了").rules == [.t2])
  }

  @Test(
    arguments: [
      ("Error", [.t3]), ("Warning", [.t3]), ("Payment Declined", []), ("错误", [.t3]), ("付款失败", []),
    ] as [(String, [LintRule])])
  func `T3: a title is more than one word`(_ text: String, _ rules: [LintRule]) {
    #expect(title(text).rules == rules)
  }

  @Test(arguments: [
    ("Train Delayed.", "Train Delayed"), ("Train Delayed!", "Train Delayed"), ("Train Delayed…", "Train Delayed"),
    ("快递已到达。", "快递已到达"), ("Zug hat Verspätung.", "Zug hat Verspätung"),
    ("Is the train late", "Is the train late?"),
    ("The train is late. Take the bus", "The train is late. Take the bus."),
    ("火车晚点。请改乘公交", "火车晚点。请改乘公交。"),
  ])
  func `T4: a statement ends with nothing, a question with its mark, sentences with theirs`(
    _ text: String, _ fix: String
  ) {
    #expect(title(text).rules.first == .t4)
    #expect(title(text).fix == fix)
  }

  @Test func `T4: a question and sentences are in sentence-style`() {
    #expect(title("Delete This Message Now?").rules == [.t4])
    #expect(title("The Train Is Late. Take The Next Bus.").rules == [.t4])
  }

  @Test(arguments: [
    ("train delayed", "Train Delayed"), ("New message from Anna", "New Message From Anna"),
    ("Black And White", "Black and White"), ("Check-in opens at the airport", "Check-in Opens at the Airport"),
    ("iPhone found in the car", "iPhone Found in the Car"), ("delete this message?", "Delete this message?"),
  ])
  func `T5: titles have title-style capitals`(_ text: String, _ fix: String) {
    #expect(title(text).rules == [.t5])
    #expect(title(text).fix == fix)
  }

  @Test(arguments: ["неожиданная остановка", "zug hat verspätung"])
  func `T5: other languages begin with a capital, and that is all`(_ text: String) {
    #expect(title(text).rules == [.t5])
    #expect(title(text).fix == text.prefix(1).uppercased() + text.dropFirst())
  }

  @Test(arguments: [
    "The train is 5 minutes late.", "Is it on time?", "列车晚点五分钟。", "Der Zug kommt fünf Minuten später.",
    "รถไฟมาถึงแล้ว", "42", "The U.S. team won 3.5 points.", "The meeting begins at 3 p.m.", "The train is in the U.S.",
    "No.",
  ])
  func `T6: a good message has no finding`(_ text: String) {
    #expect(body(text).rules.isEmpty, "\(body(text))")
  }

  @Test(arguments: [
    ("The train is 5 minutes late", "The train is 5 minutes late."), ("列车晚点五分钟", "列车晚点五分钟。"),
    ("Der Zug kommt später", "Der Zug kommt später."), ("ट्रेन देर से आएगी", "ट्रेन देर से आएगी।"), ("기차가 늦습니다", "기차가 늦습니다."),
    ("القطار متأخر", "القطار متأخر."),
  ])
  func `T6: a message ends in punctuation`(_ text: String, _ fix: String) {
    #expect(body(text).rules == [.t6])
    #expect(body(text).fix == fix)
  }

  @Test(arguments: [
    "The train is late. The bus is not.", "One,\ntwo,\nthree lines.", "列车晚点。请改乘公交。",
    "This message takes rather more than the eighty columns that two lines of a screen have.",
    "Every Word Of This Message Has A Capital.",
  ])
  func `T6: a message is one short sentence in sentence-style`(_ text: String) {
    #expect(body(text).rules == [.t6])
  }

  @Test func `T5: a message begins with a capital`() {
    #expect(body("the train is late.").rules == [.t5])
    #expect(body("the train is late.").fix == "The train is late.")
  }

  @Test(arguments: [
    "Your Order Has Shipped", "Somebody Likes Me", "您的快递已到达", "Deine Bestellung ist unterwegs",
    "Votre commande est expédiée",
    "Ваш заказ отправлен", "あなたの荷物が届きました",
  ])
  func `T7: titles avoid you, your, me and my, in any language`(_ text: String) {
    #expect(title(text).rules == [.t7])
  }

  @Test func `T7: buttons avoid them, too, and messages need not`() {
    #expect(button("My Orders") == [.t7])
    #expect(body("Your order is on its way.").rules.isEmpty)
  }

  @Test(arguments: [
    "Tap View to see it.", "Click here for more.", "Press the button below.", "Click to read on.", "点击查看详情。",
  ])
  func `T8: buttons are not explained`(_ text: String) { #expect(body(text).rules == [.t8]) }

  @Test(arguments: ["The tap is open.", "Press releases are out.", "Choose wisely."])
  func `T8: words that are no explanation pass`(_ text: String) { #expect(body(text).rules.isEmpty) }

  @Test(arguments: ["Track", "View Order", "OK", "Reply", "查看订单", "Ansehen", "PLAY_BUTTON", "track.button"])
  func `T9: a good button has no finding`(_ text: String) { #expect(button(text).isEmpty) }

  @Test(arguments: ["Show Me the Order", "Track!", "Yes", "No", "track", "Nein", "是"])
  func `T9: buttons are one or two words, verbs, title-style, without punctuation`(_ text: String) {
    #expect(button(text).contains(.t9), "\(button(text))")
  }

  @Test(arguments: [("Track!", ["Track"]), ("Yes!", []), ("Oui !", []), ("No!", [])])
  func `T9: a fix of a button is none that T9 refuses`(_ text: String, _ fixes: [String]) {
    let findings = lint(#"{"aps":{"alert":{"title":"Order Shipped","action-loc-key":\#(string(text))}}}"#)
    #expect(findings.count == 1 && findings.compactMap(\.fix) == fixes, "\(findings)")
  }

  @Test(arguments: ["TRAIN DELAYED AGAIN", "Oops Train Delayed", "Hey Train Delayed"])
  func `T10: neither all capitals nor chummy, in titles`(_ text: String) { #expect(title(text).rules == [.t10]) }

  @Test func `T10: nor in messages`() {
    #expect(body("The train is late!!").rules == [.t10])
    #expect(body("EVERYTHING IS DELAYED TODAY.").rules == [.t10])
    #expect(body("NASA and ESA agree.").rules.isEmpty)
  }

  @Test(arguments: [
    "The file was uploaded successfully.", "Sync in progress.", "An unknown error occurred.", "操作成功。", "正在下载更新。",
  ])
  func `A10: no alert for progress, confirmation and errors without remedy`(_ text: String) {
    #expect(body(text).rules == [.a10])
    let passive = lint(
      #"{"aps":{"interruption-level":"passive","alert":{"title":"Order Shipped","body":\#(string(text))}}}"#)
    #expect(passive.isEmpty, "what does not interrupt may tell of it")
  }
}
