import PushCore
import PushStorage

/// The report about a sender: its reaction to each refusal and to each request without an answer, and its mistakes in requests
/// that were accepted.
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
    /// The request itself is wrong.
    case mistake
  }

  /// One refusal with the next push, which shows the reaction of the sender; or one mistake.
  struct Line: Sendable {
    let push: RecordedPush
    let verdict: Verdict
    /// The correct behavior of the sender.
    let expected: String
    /// The behavior of the sender.
    let words: String
    var next: RecordedPush?

    /// The seconds from the answer to the next push; nil without one.
    var after: Double? { next.map { push.pause(before: $0) } }
  }

  let lines: [Line]
  let dropped: Int

  /// The shortest pause before a retry without `retry-after`, in seconds.
  private static let shortestPause = 1

  /// - Parameter view: all recorded pushes. A broadcast counts once, as a request.
  init(_ view: PushRecorder.View) {
    dropped = view.dropped
    let pushes = view.pushes.filter { !$0.isDelivery }
    let reactions = PushReactions(pushes)
    var mistakes = SenderMistakes()
    var lines: [Line] = []
    for (place, push) in pushes.enumerated() {
      switch push.outcome {
      case .refused, .reset:
        let following = reactions.following[place].map { pushes[$0] }
        lines.append(PushReport.line(push, following: following, same: reactions.same[place].map { pushes[$0] }))
      case .accepted, .duplicate, .dropped: lines += mistakes.lines(about: push)
      case .open: break
      }
    }
    self.lines = lines
  }

  private static func line(_ push: RecordedPush, following: RecordedPush?, same: RecordedPush?) -> Line {
    let demand = SenderDemand(push)
    let next =
      switch demand {
      case .forgetToken: following
      case .correct: same.flatMap { $0.isRepetition(of: push) ? $0 : nil }
      default: same
      }
    let verdict = verdict(push, demand, next)
    return Line(
      push: push, verdict: verdict, expected: demand.words(for: push), words: words(push, demand, verdict, next),
      next: next)
  }

  private static func verdict(_ push: RecordedPush, _ demand: SenderDemand, _ next: RecordedPush?) -> Verdict {
    switch demand {
    case .forgetToken: return next == nil ? .handled : .retried
    case .correct: return next != nil ? .retried : push.isAnsweredByFault ? .handled : .mistake
    case .keepProviderToken where !push.isAnsweredByFault: return .mistake
    case .renewProviderToken:
      guard let next else { return .neverRetried }
      return next.reason == push.reason ? .retried : .handled
    case .retryLater, .keepProviderToken:
      guard let next else { return .neverRetried }
      let mayAtOnce = push.status == nil || push.status == 500
      let shortest = push.retryAfter ?? (mayAtOnce ? 0 : shortestPause)
      return push.pause(before: next) < Double(shortest) ? .retriedTooEarly : .handled
    }
  }

  private static func words(
    _ push: RecordedPush, _ demand: SenderDemand, _ verdict: Verdict, _ next: RecordedPush?
  ) -> String {
    let fault = push.status == nil ? push.fault.map { ", fault \($0)" } ?? "" : ""
    let answer = push.status.map { "\($0) \(push.reason ?? "")" } ?? "no answer"
    let head = "\(answer) (push \(push.number)\(fault)): "
    guard let next else {
      switch verdict {
      case .mistake: return head + "the request is wrong"
      case .neverRetried: return head + "lost: not sent again"
      default: return head + "not sent again"
      }
    }
    let milliseconds = Int(push.pause(before: next) * 1000)
    let relation = demand == .forgetToken ? "went to the same token" : "is the same"
    return head + "push \(next.number) \(relation), \(milliseconds) ms later"
  }

  /// The report in lines of text: the numbers of all verdicts, and each line but those about handled refusals.
  ///
  /// - Parameter count: the number of pushes.
  func text(count: Int) -> [String] {
    let refusals = lines.filter { !$0.push.outcome.isAcceptance }
    let summary = Verdict.allCases.compactMap { verdict -> String? in
      let count = refusals.count { $0.verdict == verdict }
      return count == 0 ? nil : "\(count) \(verdict.rawValue)"
    }
    let others = lines.count - refusals.count
    var head = "\(count) pushes; "
    head += summary.isEmpty ? "none was refused" : "refused: " + summary.joined(separator: ", ")
    if others > 0 { head += "; mistakes in accepted pushes: \(others)" }
    return [head]
      + lines.filter { $0.verdict != .handled }.map { "\($0.words); expected: \($0.expected)" }
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
      "verdict": .string(verdict.rawValue), "expected": .string(expected), "text": .string(words),
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
  /// The seconds from the end of the request to the arrival of another.
  fileprivate func pause(before next: RecordedPush) -> Double { (next.arrived - (ended ?? arrived)) / .seconds(1) }

  /// Returns true if nothing was corrected: the requests have the same content and the same fields but `apns-id`.
  fileprivate func isRepetition(of other: RecordedPush) -> Bool {
    func fields(_ push: RecordedPush) -> [String: String] { push.headers.filter { $0.key != "apns-id" } }
    return method == other.method && path == other.path && size == other.size && payload == other.payload
      && sender.tokenHash == other.sender.tokenHash && fields(self) == fields(other)
  }

  /// The last injected fault in words; nil for none.
  fileprivate var fault: String? { events.last { $0.event == .fault }?.detail }

  /// True if an injected fault caused the refusal: a refusal by the gateway has a row of its own.
  fileprivate var isAnsweredByFault: Bool { fault != nil && !events.contains { $0.event == .refused } }
}
