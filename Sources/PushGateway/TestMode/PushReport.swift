import PushCore

/// The report about a sender: its reaction to each refusal, and to each request without an answer.
struct PushReport: Sendable {
  enum Verdict: String, Sendable, CaseIterable {
    /// The reaction is correct.
    case handled
    /// The push came again before the sender should try.
    case retriedTooEarly = "retried-too-early"
    /// The push, or its token, was used again although that can't succeed.
    case retried
    /// The push could have been sent again later, and was not: it is lost.
    case neverRetried = "never-retried"
  }

  /// The behavior that an answer demands of a sender.
  enum Demand: Sendable {
    /// No further push to the token.
    case forgetToken
    /// The same push again, after a pause.
    case retryLater
    /// The same push again, with a new provider token.
    case renewToken
    /// No push like this one.
    case correct

    /// The demand in words.
    var words: String {
      switch self {
      case .forgetToken: "no more pushes to this token"
      case .retryLater: "the same push again, after a pause"
      case .renewToken: "the same push again, with a new provider token"
      case .correct: "a corrected request, not the same again"
      }
    }

    init(_ push: RecordedPush) {
      switch push.reason {
      case "Unregistered", "BadDeviceToken", "DeviceTokenNotForTopic", "ExpiredToken", "MissingDeviceToken":
        self = .forgetToken
      case "ExpiredProviderToken": self = .renewToken
      case "TooManyRequests", "TooManyProviderTokenUpdates", "InternalServerError", "ServiceUnavailable", "Shutdown",
        "IdleTimeout":
        self = .retryLater
      default: self = push.reason == nil && push.status.map { $0 >= 500 } ?? true ? .retryLater : .correct
      }
    }
  }

  /// One refusal, and the next push, which shows the reaction of the sender.
  struct Line: Sendable {
    let push: RecordedPush
    let demand: Demand
    let verdict: Verdict
    let next: RecordedPush?

    /// The seconds from the answer to the next push; nil without one.
    var after: Double? {
      guard let next else { return nil }
      return (next.arrived - (push.ended ?? push.arrived)) / .seconds(1)
    }

    var words: String {
      let answer = push.status.map { "\($0) \(push.reason ?? "")" } ?? "no answer"
      let head = "\(answer) (push \(push.number)): "
      guard let next else { return head + (verdict == .handled ? "not sent again" : "lost: not sent again") }
      let milliseconds = Int((after ?? 0) * 1000)
      let what = demand == .forgetToken ? "went to the same token" : "is the same"
      return head + "push \(next.number) \(what), \(milliseconds) ms later"
    }
  }

  let lines: [Line]
  let dropped: Int

  /// The shortest pause before a retry, in seconds.
  private static let shortestPause = 1.0

  /// - Parameter view: all recorded pushes. A broadcast counts once, as a request.
  init(_ view: PushRecorder.View) {
    dropped = view.dropped
    let pushes = view.pushes.filter { !$0.isDelivery }
    var later: [String: [Int]] = [:]
    for (place, push) in pushes.enumerated() { later[push.token ?? "", default: []].append(place) }
    lines = pushes.filter { $0.outcome == .refused || $0.outcome == .reset }.map { push in
      let following = (later[push.token ?? ""] ?? []).lazy.map { pushes[$0] }.filter { $0.number > push.number }
      return PushReport.line(push, following: following.first, same: following.first { $0.isSame(as: push) })
    }
  }

  private static func line(_ push: RecordedPush, following: RecordedPush?, same: RecordedPush?) -> Line {
    let demand = Demand(push)
    let next = demand == .forgetToken ? following : same
    func line(_ verdict: Verdict) -> Line { Line(push: push, demand: demand, verdict: verdict, next: next) }
    switch demand {
    case .forgetToken, .correct: return line(next == nil ? .handled : .retried)
    case .renewToken:
      guard let next else { return line(.neverRetried) }
      return line(next.reason == push.reason ? .retried : .handled)
    case .retryLater:
      guard let next else { return line(.neverRetried) }
      let pause = (next.arrived - (push.ended ?? push.arrived)) / .seconds(1)
      let mayAtOnce = push.status == nil || push.status == 500
      return line(!mayAtOnce && pause < shortestPause ? .retriedTooEarly : .handled)
    }
  }

  /// The answer of the test API.
  var json: JSONValue {
    var summary: [String: JSONValue] = [:]
    for verdict in Verdict.allCases {
      summary[verdict.rawValue] = .integer(lines.count { $0.verdict == verdict })
    }
    return ["lines": .array(lines.map(\.json)), "summary": .object(summary), "dropped": .integer(dropped)]
  }
}

extension PushReport.Line {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "number": .integer(push.number), "id": .string(push.id.description), "at": .timestamp(push.received),
      "verdict": .string(verdict.rawValue), "expected": .string(demand.words), "text": .string(words),
    ]
    members["token"] = push.token.map { .string($0) }
    members["reason"] = push.reason.map { .string($0) }
    members["status"] = push.status.map { .integer($0) }
    members["next"] = next.map { .integer($0.number) }
    members["after"] = after.map { .number($0) }
    return .object(members)
  }
}

extension RecordedPush {
  /// Returns true if another request carries the same push: with its id, or with the same payload for the same token.
  fileprivate func isSame(as other: RecordedPush) -> Bool {
    token == other.token && (id == other.id || size == other.size && payload == other.payload && topic == other.topic)
  }
}
