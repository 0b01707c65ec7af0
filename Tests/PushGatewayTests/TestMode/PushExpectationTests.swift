import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushPolicy

@Suite struct PushExpectationTests {
  let start = ContinuousClock.now

  func verdict(
    _ matched: Int, lastArrival: Double? = nil, now: Double, _ change: (inout PushExpectation) -> Void = { _ in }
  ) -> PushExpectation.Verdict {
    var expectation = PushExpectation()
    change(&expectation)
    return expectation.verdict(
      matching: matched, lastArrival: lastArrival.map { start + .seconds($0) }, start: start,
      now: start + .seconds(now))
  }

  @Test func `enough pushes fulfill an expectation, and too few fail it in the end`() {
    #expect(verdict(1, now: 0) == .fulfilled)
    #expect(verdict(2, now: 0) == .fulfilled)
    #expect(verdict(0, now: 0) == .open(until: start + .seconds(2)))
    #expect(verdict(0, now: 2) == .failed)
  }

  @Test func `none is fulfilled when the sender was idle for the time`() {
    func none(_ expectation: inout PushExpectation) { expectation.count = 0 }
    #expect(verdict(1, now: 0, none) == .failed)
    #expect(verdict(0, lastArrival: 1, now: 2, none) == .open(until: start + .seconds(3)))
    #expect(verdict(0, lastArrival: 1, now: 3, none) == .fulfilled)
    #expect(verdict(0, lastArrival: -5, now: 2, none) == .fulfilled)
    // A sender that never stops ends the expectation as well.
    #expect(verdict(0, lastArrival: 59.5, now: 60, none) == .fulfilled)
  }

  @Test func `an exact number is fulfilled when no more come`() {
    func exactly(_ expectation: inout PushExpectation) { expectation.isExact = true }
    #expect(verdict(2, now: 0, exactly) == .failed)
    #expect(verdict(1, lastArrival: 1, now: 1, exactly) == .open(until: start + .milliseconds(1200)))
    #expect(verdict(1, lastArrival: 1, now: 1.5, exactly) == .fulfilled)
    #expect(verdict(0, now: 3, exactly) == .failed)
  }

  @Test func `a failure has the three pushes with the fewest differences, the last first`() throws {
    var expectation = PushExpectation()
    expectation.conditions = try PushCondition.list(["title": "Train", "badge": 3, "priority": 10])
    let payloads: [JSONValue] = [
      ["aps": ["alert": "Bus"]], ["aps": ["alert": ["title": "Train"]]],
      ["aps": ["alert": ["title": "Train"], "badge": 3]], ["aps": ["alert": ["title": "Train"], "badge": "3"]],
      ["aps": [:]],
    ]
    let pushes = payloads.enumerated().map { index, payload in
      var push = RecordedPush.sample(index + 1)
      push.payload = payload
      return push
    }
    let view = PushRecorder.View(pushes: pushes, last: 5, dropped: 0)
    let result = ExpectationResult(expectation, isFulfilled: false, view)
    #expect(result.nearest.map { $0.push.number } == [3, 4, 2])
    #expect(result.nearest[0].differences == [.init(field: "priority", expected: 10, found: nil)])
    #expect(
      result.nearest[1].differences == [
        .init(field: "badge", expected: 3, found: "3"), .init(field: "priority", expected: 10, found: nil),
      ])
    #expect(result.words == "expected 1 accepted push, found 0 of 5 within 2s")
  }

  #if DEBUG
    @Test func `a regular expression is compared once with each push, and the answer each time`() throws {
      var expectation = PushExpectation()
      expectation.conditions = try PushCondition.list(["title~": "(a|b)*c", "status": 200])
      var push = RecordedPush.sample(1)
      push.payload = ["aps": ["alert": ["title": .string(String(repeating: "ab", count: 100) + "c")]]]
      push.status = 410
      var (known, isMet): ([Int: Bool], Bool) = ([:], true)
      let first = ReadingSteps.taken { isMet = expectation.isMet(by: push, &known) }
      #expect(first > 200 && !isMet)
      push.status = 200
      let second = ReadingSteps.taken { isMet = expectation.isMet(by: push, &known) }
      #expect(second == 0 && isMet)
    }

    @Test(arguments: [true, false])
    func `the result of an expectation compares a regular expression once with each push`(_ isFulfilled: Bool) throws {
      var expectation = PushExpectation()
      expectation.conditions = try PushCondition.list(["title~": "(a|b)*d"])
      let pushes = (1...5).map { number in
        var push = RecordedPush.sample(number)
        push.payload = ["aps": ["alert": ["title": .string(String(repeating: "ab", count: 100) + "c")]]]
        return push
      }
      let once = ReadingSteps.taken { for push in pushes { #expect(!expectation.isMet(by: push)) } }
      let view = PushRecorder.View(pushes: pushes, last: 5, dropped: 0)
      var result: ExpectationResult?
      let taken = ReadingSteps.taken {
        result = ExpectationResult(expectation, isFulfilled: isFulfilled, view)
        _ = result?.nearest
      }
      #expect(once > 1000 && taken == once)
      #expect(result?.nearest.map { $0.push.number } == (isFulfilled ? [] : [5, 4, 3]))
    }
  #endif

  @Test func `a regular expression that takes all of its steps is a problem of its field`() throws {
    var expectation = PushExpectation()
    var push = RecordedPush.sample(1)
    push.payload = ["aps": ["alert": ["title": .string(String(repeating: "a", count: 100))]]]
    for (steps, isExhausted) in [(10, true), (10_000, false)] {
      expectation.conditions = [try PushCondition("title~", "a*b", steps: steps)]
      try expectation.checkCost()
      #expect(!expectation.isMet(by: push))
      guard isExhausted else {
        try expectation.checkCost()
        continue
      }
      let problem = #expect(throws: Problem.self) { try expectation.checkCost("match.") }
      #expect(problem?.status == 400 && problem?.field == "match.title~")
    }
  }

  @Test func `a JSON pointer names a value`() {
    let value: JSONValue = ["a": ["b/c": [1, ["~": "x"]]], "n": 3]
    #expect(value.value(at: "/a/b~1c/1/~0") == "x")
    #expect(value.value(at: "/a/b~1c/01") == nil)
    #expect(value.value(at: "/a/b~1c/2") == nil)
    #expect(value.value(at: "") == value)
    #expect(value.value(at: "n") == nil)
    #expect(JSONValue.integer(3).equals(.number(3)))
    #expect(!JSONValue.integer(3).equals(.string("3")))
  }
}
