/// A device of a test. Its token is the namespace of the test: tests with devices of their own run in parallel.
public struct PushDevice: Sendable {
  /// The token for the sender.
  public let token: String
  public let topic: String
  let api: TestAPI

  /// Returns when a push as described has come.
  ///
  /// - Parameters:
  ///   - state: the state that the push must have.
  ///   - presented: true if the device must also have presented a part of it; short for the state `presented`.
  ///   - match: further fields with their values, such as `"payload./url"`. A name with `~` at its end has a regular expression,
  ///     a name with `*` a part of the text.
  ///   - duration: the time limit, at most a minute.
  /// - Returns: the first such push.
  /// - Throws: ``PushExpectationFailure`` if none has come.
  @discardableResult
  public func expect(
    _ state: PushState = .accepted, title: String? = nil, body: String? = nil, badge: Int? = nil,
    presented: Bool = false, match: [String: JSONValue] = [:], within duration: Duration = .seconds(5),
    fileID: String = #fileID, line: Int = #line
  ) async throws -> RecordedPush {
    let pushes = try await expect(
      count: 1, state, title: title, body: body, badge: badge, presented: presented, match: match, within: duration,
      fileID: fileID, line: line)
    guard let push = pushes.first else { throw PushGatewayError("the test API returned no push") }
    return push
  }

  /// Returns when a number of pushes as described has come.
  ///
  /// - Parameters:
  ///   - count: the number of pushes.
  ///   - exactly: true if more pushes are a failure.
  /// - Returns: the pushes, the oldest first.
  /// - Throws: ``PushExpectationFailure`` if fewer have come, or more with `exactly`.
  @discardableResult
  public func expect(
    count: Int, exactly: Bool = false, _ state: PushState = .accepted, title: String? = nil, body: String? = nil,
    badge: Int? = nil, presented: Bool = false, match: [String: JSONValue] = [:],
    within duration: Duration = .seconds(5), fileID: String = #fileID, line: Int = #line
  ) async throws -> [RecordedPush] {
    var match = match
    if let title { match["title"] = .string(title) }
    if let body { match["body"] = .string(body) }
    if let badge { match["badge"] = .integer(badge) }
    let state = presented && state == .accepted ? PushState.presented : state
    return try await api.expect(
      [
        "token": .string(token), "match": .object(match), "state": .string(state.rawValue), "count": .integer(count),
        "exactly": .bool(exactly), "within": .string(duration.text),
      ], at: "\(fileID):\(line)")
  }

  /// Returns when no push has come for some time.
  ///
  /// - Parameter duration: the time without a push, at most a minute.
  /// - Throws: ``PushExpectationFailure`` if there is a push, or was one before.
  public func expectNone(
    _ state: PushState = .any, match: [String: JSONValue] = [:], within duration: Duration = .milliseconds(500),
    fileID: String = #fileID, line: Int = #line
  ) async throws {
    try await expect(count: 0, state, match: match, within: duration, fileID: fileID, line: line)
  }

  /// Returns the recorded pushes to the device, the oldest first, at most 10,000.
  public func pushes(_ state: PushState = .any) async throws -> [RecordedPush] {
    try await api.pushes(state, to: token)
  }

  /// Answers a push as its user.
  ///
  /// - Parameters:
  ///   - action: the id of the action, such as `approve`.
  ///   - id: the id of the push; nil for the last delivered push.
  /// - Returns: the action that counts: the first answer.
  @discardableResult
  public func answer(_ action: String, to id: String? = nil) async throws -> String {
    struct Answer: Decodable { let action: String }
    var members: [String: JSONValue] = ["action": .string(action)]
    members["id"] = id.map { .string($0) }
    return try await api.call(.answer, token: token, body: .object(members)).decoded(Answer.self).action
  }

  /// Sets the state of the token.
  ///
  /// - Parameters:
  ///   - count: the number of pushes for which it holds; nil for all.
  ///   - duration: the time for which it holds; nil without an end.
  ///   - retryAfter: the seconds in the field `retry-after` of the answers; nil for 1 second if `throttled`, and for no field if
  ///     `unavailable`.
  public func setState(
    _ state: TokenState, count: Int? = nil, for duration: Duration? = nil, retryAfter: Int? = nil
  ) async throws {
    var members: [String: JSONValue] = ["state": .string(state.rawValue)]
    members["count"] = count.map { .integer($0) }
    members["for"] = duration.map { .string($0.text) }
    members["retry-after"] = retryAfter.map { .integer($0) }
    _ = try await api.call(.setToken, token: token, body: .object(members))
  }

  /// Sets the faults of the requests to the token, in place of its earlier faults and its state.
  ///
  /// - Parameter faults: the faults with the keys of a scenario file, as `["reason": "TooManyRequests", "count": 3]` or
  ///   `["goaway": "Shutdown"]`; empty to end them.
  public func setFaults(_ faults: [JSONValue]) async throws {
    _ = try await api.call(.setFaults, token: token, body: ["faults": .array(faults)])
  }

  /// Removes the device: pushes to its token are answered 410 Unregistered.
  public func remove() async throws { _ = try await api.call(.removeDevice, token: token) }
}

extension TestAPI {
  private struct Pushes: Decodable { let pushes: [RecordedPush] }

  /// - Throws: ``PushExpectationFailure`` if the expectation failed.
  func expect(_ expectation: JSONValue, at location: String) async throws -> [RecordedPush] {
    let answer = try await call(.expect, body: expectation)
    if answer.status == 417 { throw PushExpectationFailure(try answer.decoded(), at: location) }
    return try answer.decoded(Pushes.self).pushes
  }

  /// Returns recorded pushes: to a token, or to all of them.
  func pushes(_ state: PushState, to token: String?) async throws -> [RecordedPush] {
    var query = [(name: "state", value: state.rawValue), (name: "limit", value: "10000")]
    if let token { query.append((name: "token", value: token)) }
    return try await call(.pushes, query: query).decoded(Pushes.self).pushes
  }
}
