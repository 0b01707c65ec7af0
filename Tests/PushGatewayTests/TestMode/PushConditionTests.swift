import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushPolicy

/// The comparison of conditions and states with a recorded push.
@Suite struct PushConditionTests {
  private func isMet(_ name: String, _ value: JSONValue, by push: RecordedPush) throws -> Bool {
    try PushCondition(name, value).isMet(by: push)
  }

  private func push(_ payload: JSONValue) -> RecordedPush {
    var push = RecordedPush.sample(1)
    push.payload = payload
    push.headers["apns-priority"] = "10"
    return push
  }

  @Test func `a pattern and a part are compared with the text of a number`() throws {
    let push = push(["aps": ["badge": 42, "mutable-content": 1], "ratio": .number(0.5), "urgent": true, "list": [4]])
    for (name, text) in [
      ("badge~", "^4"), ("badge*", "2"), ("priority~", "^(5|10)$"), ("status~", "^2..$"), ("mutable-content~", "^1$"),
      ("payload./ratio~", "^0\\.5$"), ("payload./urgent~", "^true$"),
    ] {
      #expect(try isMet(name, .string(text), by: push), "\(name) \(text)")
    }
    for (name, text) in [
      ("badge~", "^2"), ("badge*", "5"), ("sound~", ""), ("payload./list~", "4"), ("payload./list*", ""),
    ] {
      #expect(try !isMet(name, .string(text), by: push), "\(name) \(text)")
    }
    #expect(try !isMet("badge", "42", by: push))
  }

  @Test(
    arguments: [
      ("body", "123456", [1]), ("body", "true", [2]), ("body", "Bus", [3]), ("badge", "4", [3]),
      ("badge", "4.0", [3]), ("badge", "null", [1, 2]), ("body", "\"Bus\"", []), ("body~", "123", [1]),
      ("body*", "u", [2, 3]), ("badge", "5", []),
    ] as [(String, String, [Int])])
  func `the text of a query is a number, a truth value or a text`(
    _ name: String, _ text: String, _ numbers: [Int]
  ) throws {
    let condition = try PushCondition(query: name, text, JSONParser())
    let pushes = [
      push(["aps": ["alert": "123456"]]), push(["aps": ["alert": "true"]]),
      push(["aps": ["alert": "Bus", "badge": 4]]),
    ]
    let found = pushes.enumerated().filter { condition.isMet(by: $0.element) }.map { $0.offset + 1 }
    #expect(found == numbers)
  }

  @Test func `an id matches in the form that the sender wrote`() throws {
    let push = push(["aps": [:]])
    let id = push.id.description
    #expect(try isMet("id", .string(id), by: push))
    #expect(try isMet("id", .string(id.lowercased()), by: push))
    #expect(try !isMet("id", .string(RecordedPush.sample(2).id.description), by: push))
    #expect(try !isMet("id", "no id", by: push))
  }

  @Test func `a push without its alert is not presented, and with any other missing part it is`() {
    func states(_ presented: [String], _ removed: [Part]) -> [PushState] {
      var push = push(["aps": ["alert": "Train", "badge": 3, "sound": "default"]])
      push.presented = presented
      push.suppressed = removed.map { .init(part: $0, rule: .n5, setting: "apps/com.example.train/\($0.rawValue)") }
      return push.states
    }
    #expect(states(["badge", "sound", "alert"], []) == [.accepted, .presented])
    #expect(states(["badge"], [.sound, .alert]) == [.accepted, .suppressed])
    #expect(states(["badge", "alert"], [.sound]) == [.accepted, .presented, .suppressed])
    #expect(states(["badge"], []) == [.accepted, .presented])
    // A summary shows the alert later.
    #expect(states(["badge", "alert"], [.alert]) == [.accepted, .presented, .suppressed])
    #expect(states([], [.alert]) == [.accepted, .suppressed])
  }

  @Test(arguments: [
    ("GET", "/pushes/1?form=short", "form"), ("GET", "/pushes/1.svg?them=dark", "them"),
    ("GET", "/report?token=ab", "token"),
    ("GET", "/tests?limit=1", "limit"), ("DELETE", "/pushes?since=1", "since"), ("POST", "/expect?token=ab", "token"),
    ("GET", "/clock?now", "now"),
  ])
  func `an unknown parameter of the query is refused`(_ method: String, _ path: String, _ field: String) async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      _ = try await gateway.push(client)
      let answer = try await gateway.call(method, path)
      #expect(answer.status == 400)
      #expect(answer.body["field"]?.text == field)
      #expect(answer.body["detail"]?.text == "\"\(field)\": unknown parameter: omit it")
      #expect(gateway.mode.recorder.counts.recorded == 1)
    }
  }
}
