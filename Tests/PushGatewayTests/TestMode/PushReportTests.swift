import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushPolicy
@testable import PushStorage

/// The usual mistakes of senders, each of which the report names with the correct behavior.
@Suite struct PushReportTests {
  /// The pushes of a sender, each a second after the one before.
  private func report(_ changes: [(inout RecordedPush) -> Void]) -> PushReport {
    let pushes = changes.enumerated().map { index, change in
      var push = RecordedPush.sample(index + 1)
      change(&push)
      return push
    }
    return PushReport(PushRecorder.View(pushes: pushes, last: pushes.count, dropped: 0))
  }

  private func refused(
    _ reason: String, _ status: Int, retryAfter: Int? = nil, byFault: Bool = false, title: String = "Train"
  ) -> (inout RecordedPush) -> Void {
    { push in
      (push.outcome, push.status, push.reason, push.retryAfter) = (.refused, status, reason, retryAfter)
      push.payload = ["aps": ["alert": ["title": .string(title)]]]
      if byFault { push.events = [.init(at: 0, event: .fault, detail: "throttled: \(status) \(reason)")] }
    }
  }

  private func accepted(
    _ headers: [String: String] = [:], aps: JSONValue = ["alert": ["title": "Train"]]
  ) -> (inout RecordedPush) -> Void {
    { push in
      push.headers.merge(headers) { $1 }
      push.payload = ["aps": aps]
    }
  }

  private func expectLines(
    _ report: PushReport, _ lines: [(PushReport.Verdict, String, String)], _ location: SourceLocation = #_sourceLocation
  ) {
    let found = report.lines.map { "\($0.verdict.rawValue): \($0.words); \($0.expected)" }
    let expected = lines.map { "\($0.0.rawValue): \($0.1); \($0.2)" }
    #expect(found == expected, sourceLocation: location)
  }

  // MARK: Reactions

  @Test func `a retry before retry-after is too early, and one after it is right`() {
    func pause(_ seconds: Double) -> (inout RecordedPush) -> Void {
      { push in
        accepted()(&push)
        push.arrived = RecordedPush.began + .seconds(seconds)
      }
    }
    let expected = "the same push again, after 5 s (retry-after)"
    let limited = refused("TooManyRequests", 429, retryAfter: 5, byFault: true)
    expectLines(
      report([limited, pause(2)]),
      [(.retriedTooEarly, "429 TooManyRequests (push 1): push 2 is the same, 2000 ms later", expected)])
    expectLines(
      report([limited, pause(5)]),
      [(.handled, "429 TooManyRequests (push 1): push 2 is the same, 5000 ms later", expected)])
    let without = "the same push again, after a pause"
    let unavailable = refused("ServiceUnavailable", 503)
    expectLines(
      report([unavailable, pause(0.5)]),
      [(.retriedTooEarly, "503 ServiceUnavailable (push 1): push 2 is the same, 500 ms later", without)])
  }

  @Test func `a push that is never sent again is lost`() {
    expectLines(
      report([refused("ServiceUnavailable", 503), accepted(aps: ["alert": "another"])]),
      [
        (
          .neverRetried, "503 ServiceUnavailable (push 1): lost: not sent again", "the same push again, after a pause"
        )
      ])
  }

  @Test func `a push without an answer after GOAWAY has to be sent on a new connection`() {
    let lost: (inout RecordedPush) -> Void = { push in
      (push.outcome, push.status) = (.reset, nil)
      push.events = [.init(at: 0, event: .fault, detail: "1: GOAWAY Shutdown")]
    }
    let expected = "the same push again, on a new connection if this one has ended"
    expectLines(
      report([lost]),
      [(.neverRetried, "no answer (push 1, fault 1: GOAWAY Shutdown): lost: not sent again", expected)])
    #expect(report([lost, { _ in }]).lines.map(\.verdict) == [.handled])
  }

  @Test func `an unregistered token must not be used again, for any push`() {
    expectLines(
      report([refused("Unregistered", 410), accepted(aps: ["alert": "another"])]),
      [
        (
          .retried, "410 Unregistered (push 1): push 2 went to the same token, 1000 ms later",
          "no more pushes to this token"
        )
      ])
    #expect(report([refused("Unregistered", 410)]).lines.map(\.verdict) == [.handled])
  }

  @Test func `an expired provider token has to be renewed before the next try`() {
    let expired = refused("ExpiredProviderToken", 403)
    #expect(report([expired, expired]).lines.map(\.verdict) == [.retried, .neverRetried])
    #expect(report([expired, accepted()]).lines.map(\.verdict) == [.handled])
    #expect(report([expired]).lines.first?.expected.contains("a new provider token") == true)
  }

  // MARK: Mistakes in refused requests

  @Test(arguments: [
    ("PayloadTooLarge", 413, "a payload of at most 4096 bytes, of a voip push at most 5120"),
    ("DeviceTokenNotForTopic", 400, "the topic of the token's app"),
    ("BadTopic", 400, "the bundle id of the app as apns-topic, with the suffix of the push type"),
    ("BadPriority", 400, "apns-priority 10, 5 or 1; for a background push 5 or 1"),
    ("TooManyProviderTokenUpdates", 429, "one provider token for all pushes, renewed after 20 to 60 minutes"),
    ("BadCollapseId", 400, "an apns-collapse-id of at most 64 bytes"),
    ("BadCertificate", 403, "a corrected request, not the same again"),
  ])
  func `a wrong request is a mistake, unless a test injected the answer`(
    _ reason: String, _ status: Int, _ expected: String
  ) {
    expectLines(
      report([refused(reason, status)]),
      [(.mistake, "\(status) \(reason) (push 1): the request is wrong", expected)])
    let injected = report([refused(reason, status, byFault: true)]).lines.map(\.verdict)
    #expect(injected == [reason == "TooManyProviderTokenUpdates" ? .neverRetried : .handled])
  }

  @Test func `a wrong request that is sent again is worse`() {
    let wrong = refused("PayloadTooLarge", 413)
    #expect(report([wrong, wrong]).lines.map(\.verdict) == [.retried, .mistake])
  }

  @Test func `a corrected request is no retry of the wrong one`() {
    func wrong(_ priority: String, key: Int = 1) -> (inout RecordedPush) -> Void {
      { push in
        refused("BadPriority", 400)(&push)
        push.headers["apns-priority"] = priority
        push.headers["apns-id"] = push.id.description
        push.sender.tokenHash = key
      }
    }
    #expect(report([wrong("7"), wrong("7")]).lines.map(\.verdict) == [.retried, .mistake])
    #expect(report([wrong("7"), wrong("8")]).lines.map(\.verdict) == [.mistake, .mistake])
    #expect(report([wrong("7"), wrong("7", key: 2)]).lines.map(\.verdict) == [.mistake, .mistake])
    #expect(report([wrong("7"), accepted()]).lines.map(\.words) == ["400 BadPriority (push 1): the request is wrong"])
  }

  @Test func `a refusal by a rule names the rule`() {
    let line = report([
      { push in
        refused("Forbidden", 403)(&push)
        push.findings = [.init(rule: "B1", pointer: "/aps/badge", message: "…", isRefused: true)]
      }
    ]).lines.first
    #expect(line?.expected == "a payload without a violation of rule B1 at /aps/badge")
  }

  // MARK: Mistakes in accepted requests

  @Test func `correct pushes have no lines`() {
    let report = report([
      accepted(), accepted(["apns-push-type": "alert", "apns-priority": "10"]),
      accepted(["apns-push-type": "alert"], aps: ["alert": "x", "content-available": 1]),
      accepted(["apns-push-type": "background", "apns-priority": "5"], aps: ["content-available": 1]),
      accepted(["apns-topic": "com.example.train.voip", "apns-push-type": "voip"], aps: [:]),
      accepted(["apns-topic": "com.example.train.voip"], aps: ["content-available": 1]), { $0.token = nil },
    ])
    #expect(report.lines.isEmpty)
    #expect(report.text(count: 7) == ["7 pushes; none was refused"])
  }

  @Test func `the priority and the content of a background push are checked`() {
    let background = ["apns-push-type": "background"]
    expectLines(
      report([accepted(background, aps: ["content-available": 1])]),
      [(.mistake, "push 1 is a background push with no apns-priority, which is then 10", "apns-priority 5")])
    expectLines(
      report([accepted(["apns-push-type": "Background", "apns-priority": "10"], aps: ["content-available": 1])]),
      [(.mistake, "push 1 is a background push with apns-priority 10", "apns-priority 5")])
    let slow = background.merging(["apns-priority": "5"]) { $1 }
    expectLines(
      report([accepted(slow, aps: ["content-available": 1, "badge": 3])]),
      [
        (
          .mistake, "push 1 is a background push with badge",
          "apns-push-type alert, or a payload without alert, sound and badge"
        )
      ])
    expectLines(
      report([accepted(slow, aps: [:])]),
      [(.mistake, "push 1 is a background push without content-available", "content-available 1")])
  }

  @Test func `a silent push needs the push type background`() {
    let expected = "apns-push-type background and apns-priority 5"
    expectLines(
      report([accepted(aps: ["content-available": 1])]),
      [(.mistake, "push 1 has no push type, which is then alert, and its payload is silent", expected)])
    expectLines(
      report([accepted(["apns-push-type": "alert"], aps: ["content-available": 1])]),
      [(.mistake, "push 1 has push type alert, and its payload is silent", expected)])
  }

  @Test func `the topic has the suffix of the push type`() {
    expectLines(
      report([accepted(["apns-push-type": "voip"])]),
      [
        (
          .mistake, "push 1 has push type voip and the topic com.example.train", "the topic com.example.train.voip"
        )
      ])
    expectLines(
      report([accepted(["apns-topic": "com.example.train.voip", "apns-push-type": "alert"])]),
      [
        (
          .mistake, "push 1 has push type alert and the topic com.example.train.voip",
          "apns-push-type voip, or the topic com.example.train"
        )
      ])
  }

  @Test func `an apns-id belongs to one push`() {
    func identified(_ title: String, _ outcome: PushOutcome) -> (inout RecordedPush) -> Void {
      { push in
        accepted(["apns-id": "same"], aps: ["alert": ["title": .string(title)]])(&push)
        (push.id, push.outcome) = (RecordedPush.sample(1).id, outcome)
      }
    }
    expectLines(
      report([identified("Train", .accepted), identified("Bus", .duplicate)]),
      [
        (
          .mistake, "push 2 has the apns-id of push 1, which is another push: it is dropped as a repetition",
          "a new apns-id for each push, and the same one only for its retries"
        )
      ])
    // A retry has the id of its push.
    #expect(report([identified("Train", .accepted), identified("Train", .duplicate)]).lines.isEmpty)
  }

  @Test func `a provider token for each push is one too often`() {
    func signed(_ token: Int, minute: Int64) -> (inout RecordedPush) -> Void {
      { push in
        push.sender.tokenHash = token
        push.received = minute * 60_000
      }
    }
    let often = report((1...5).map { signed($0, minute: 0) })
    expectLines(
      often,
      [
        (
          .mistake, "push 3 has the third provider token within 20 minutes",
          "one provider token for all pushes, renewed after 20 to 60 minutes"
        )
      ])
    #expect(report((1...5).map { signed($0, minute: Int64($0) * 30) }).lines.isEmpty)
    #expect(report((1...5).map { signed($0 % 2, minute: 0) }).lines.isEmpty)
  }

  @Test func `a kind of mistake is reported once for each token`() {
    let wrong = accepted(["apns-push-type": "background"], aps: ["content-available": 1])
    let report = report([
      wrong, wrong, refused("PayloadTooLarge", 413),
      { push in
        wrong(&push)
        push.token = "cd"
      },
    ])
    #expect(report.lines.map(\.push.number) == [1, 3, 4])
    #expect(
      report.text(count: 4) == [
        "4 pushes; refused: 1 mistake; mistakes in accepted pushes: 2",
        "push 1 is a background push with no apns-priority, which is then 10; expected: apns-priority 5",
        "413 PayloadTooLarge (push 3): the request is wrong; expected: a payload of at most 4096 bytes, of a voip push at "
          + "most 5120",
        "push 4 is a background push with no apns-priority, which is then 10; expected: apns-priority 5",
      ])
    #expect(report.json.value(at: "/summary/mistake") == 3)
    #expect(report.json.value(at: "/lines/0/status") == 200)
  }
}

extension RecordedPush {
  /// The time of the first sample.
  static let began = ContinuousClock.now

  /// An accepted push to the token `ab`, which arrived as many seconds after the first one as its number says.
  static func sample(_ number: Int) -> RecordedPush {
    var random = SplitMix64(state: UInt64(number))
    var push = RecordedPush(
      number: number, received: 0, arrived: began + .seconds(number - 1), id: APNSID(using: &random), method: "POST",
      path: "/3/device/ab", token: "ab", headers: ["apns-topic": "com.example.train"], sender: Sender(connection: 1),
      size: 10,
      payload: ["aps": ["alert": ["title": "Train"]]])
    (push.outcome, push.status, push.ended) = (.accepted, 200, push.arrived)
    return push
  }
}
