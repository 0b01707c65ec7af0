import PushPolicy
import Testing

@Suite struct PayloadParserTests {
  func alert(_ members: String) throws -> PushNotification.Alert? {
    try aps(#""alert":{\#(members)}"#).notification.alert
  }

  func texts(_ title: String = "", _ subtitle: String = "", _ body: String = "") -> PushNotification.Alert {
    var alert = PushNotification.Alert()
    alert.title = title
    alert.subtitle = subtitle
    alert.body = body
    return alert
  }

  @Test func `a payload is read whole`() throws {
    let payload = try aps(
      #"""
      "alert":{"title":"T","subtitle":"S","body":"B","action-loc-key":"Read"},"badge":3,"sound":"chime.caf",
      "category":"BREAKING","thread-id":"t1","content-available":1,"mutable-content":1
      """#
    )
    var expected = PushNotification()
    expected.alert = texts("T", "S", "B")
    expected.alert?.action = .title("Read")
    expected.badge = 3
    expected.sound = .init(name: "chime.caf")
    expected.category = "BREAKING"
    expected.threadID = "t1"
    expected.isContentAvailable = true
    #expect(payload == ParsedPayload(notification: expected))
  }

  @Test(arguments: ["{}", #"{"mdm":"x"}"#, #"{"aps":{}}"#, #"{"aps":[]}"#, #"{"aps":null}"#, #"{"APS":{"badge":"7"}}"#])
  func `a payload without aps is empty`(_ text: String) throws {
    #expect(try payload(text).notification == PushNotification())
    #expect(try payload(text).violations.isEmpty)
  }

  @Test func `no bytes are an empty payload`() {
    #expect(throws: PayloadError.empty) { try payload("") }
  }

  @Test(arguments: [" ", "{", "{'aps':1}", #"{"aps":{}}x"#, #"{"aps":{"badge":01}}"#])
  func `what is not JSON is no payload, and the parser says why`(_ text: String) throws {
    let error = #expect(throws: PayloadError.self) { try payload(text) }
    guard case .notJSON(let message) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!message.isEmpty)
  }

  @Test(arguments: ["[]", "1", #""aps""#, "null", "true", #"[{"aps":{}}]"#])
  func `JSON that is no object is no payload`(_ text: String) {
    #expect(throws: PayloadError.notAnObject) { try payload(text) }
  }

  @Test func `a string is the body of an alert`() throws {
    #expect(try aps(#""alert":"B""#).notification.alert == texts("", "", "B"))
  }

  @Test(arguments: [
    #""alert":"""#, #""alert":{}"#, #""alert":{"title":"","body":""}"#, #""alert":{"action-loc-key":"Go"}"#,
    #""alert":null"#, #""alert":1"#, #""alert":["B"]"#, #""alert":{"loc-args":["a"]}"#, #""alert":"B","alert":{}"#,
  ])
  func `without any text there is no alert`(_ members: String) throws {
    #expect(try aps(members).notification.alert == nil)
  }

  @Test func `texts that are absent fall back to their keys, filled with their arguments`() throws {
    #expect(
      try alert(
        #"""
        "title-loc-key":"T %@","title-loc-args":["1"],"subtitle-loc-args":["a","b"],"subtitle-loc-key":"S %2$@ %1$@",
        "loc-key":"BODY"
        """#
      ) == texts("T 1", "S b a", "BODY")
    )
    #expect(try alert(#""title":"T","title-loc-key":"K","loc-key":"K","body":"B""#) == texts("T", "", "B"))
    #expect(try alert(#""title-loc-key":null,"title-loc-args":null,"body":"B""#) == texts("", "", "B"))
    #expect(try alert(#""loc-key":"%@%@%@","loc-args":["a",1,"b"]"#) == texts("", "", "ab"))
  }

  @Test func `title and body of a Live Activity are objects of key and arguments`() throws {
    #expect(
      try alert(#""title":{"loc-key":"T %@","loc-args":["1"]},"body":{"loc-key":"B"}"#) == texts("T 1", "", "B")
    )
    #expect(try alert(#""title":{"loc-args":["1"]},"body":"B""#) == texts("", "", "B"))
  }

  @Test(arguments: [
    (#""body":"B""#, PushNotification.ActionKey.absent), (#""body":"B","action-loc-key":"Go""#, .title("Go")),
    (#""body":"B","action-loc-key":null"#, .null), (#""body":"B","action-loc-key":"""#, .null),
    (#""body":"B","action-loc-key":7"#, .absent), (#""action-loc-key":null,"action-loc-key":[],"body":"B""#, .null),
  ])
  func `A5: action-loc-key is absent, a string or null`(_ members: String, _ action: PushNotification.ActionKey) throws
  {
    #expect(try alert(members)?.action == action)
  }

  @Test(arguments: [
    ("1", true), ("true", true), ("1.0", true), ("0", false), ("false", false), ("2", false), (#""1""#, false),
    ("null", false), ("[1]", false),
  ])
  func `content-available is 1 or true`(_ value: String, _ expected: Bool) throws {
    #expect(try aps(#""content-available":\#(value)"#).notification.isContentAvailable == expected)
  }

  @Test(arguments: ["1", "null", "[]", "{}", "true"])
  func `a key of a wrong type counts as absent`(_ value: String) throws {
    let payload = try aps(
      #""category":"C","category":\#(value),"thread-id":\#(value),"alert":{"body":"B","title":\#(value),"loc-args":3}"#
    )
    #expect(payload.notification.category == "C")
    #expect(payload.notification.threadID == nil)
    #expect(payload.notification.alert == texts("", "", "B"))
    #expect(payload.violations.isEmpty)
  }

  @Test func `of a key that comes twice the last valid one holds`() throws {
    let payload = try aps(
      #""alert":"A","alert":{"body":"B","body":"C","body":4},"alert":5,"category":"x","category":"y""#
    )
    #expect(payload.notification.alert == texts("", "", "C"))
    #expect(payload.notification.category == "y")
  }

  @Test func `of two aps the last one holds alone`() throws {
    let payload = try payload(#"{"aps":{"badge":1,"alert":"A"},"aps":{"alert":"B"}}"#)
    #expect(payload.notification.badge == nil)
    #expect(payload.notification.alert == texts("", "", "B"))
  }

  @Test func `random bytes and mutated payloads never crash the parser`() {
    let seeds = [
      #"{"aps":{"alert":{"title-loc-key":"%@ %1$@","title-loc-args":["a"],"action-loc-key":null},"badge":1e2}}"#,
      #"{"aps":{"alert":"\ud83d\ude00\udc00","sound":{"name":"a\u0000","volume":0.5},"vibrate":[1]},"x":[{}]}"#,
    ].map { Array($0.utf8) }
    let alphabet = Array(#"{}[]",:\u0d8%@$ea1-."#.utf8)
    var generator = SeededGenerator(state: 2009)
    let parser = JSONParser()
    var accepted = 0
    for round in 0..<4000 {
      var bytes = seeds[round % seeds.count]
      if round % 4 == 0 {
        bytes = (0..<Int.random(in: 0..<200, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
        }
      } else {
        for _ in 0...Int.random(in: 0..<3, using: &generator) {
          let index = Int.random(in: bytes.indices, using: &generator)
          switch Int.random(in: 0..<4, using: &generator) {
          case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
          case 1: bytes[index] = alphabet.randomElement(using: &generator) ?? 0
          case 2: bytes.insert(alphabet.randomElement(using: &generator) ?? 0, at: index)
          default: bytes.remove(at: index)
          }
        }
      }
      if let payload = try? parser.payload(bytes.span) {
        accepted += 1
        #expect(payload.notification.badge.map { $0 >= 0 } ?? true)
        #expect(payload.notification.sound?.name.contains("/") != true)
      }
    }
    #expect(accepted > 100)
  }
}
