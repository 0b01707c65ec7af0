import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The routes for recorded pushes and expectations.
struct TestPushesAPI: Sendable {
  let recorder: PushRecorder
  let expectations: ExpectationLog
  let registrations: any Registrations
  let clock: WallClock

  var routes: [TestRoute] {
    let list = TestRoute.prefix + "/pushes"
    return [
      TestRoute(
        method: "POST", path: TestRoute.prefix + "/expect",
        summary: "Answers when the expected pushes have come, or when the time for them is over",
        body: OpenAPI.reference("Expectation"),
        answers: [
          .init(status: 200, description: "the pushes", schema: OpenAPI.reference("Pushes")),
          .init(
            status: 417, description: "other pushes than expected, with the nearest ones",
            schema: OpenAPI.reference("Failure")),
        ], isWaiting: true,
        serve: { request in
          let expectation = try PushExpectation(request)
          let result = await recorder.result(of: expectation)
          try expectation.checkCost("match.")
          expectations.note(result, at: clock.milliseconds())
          return Response(result.json, status: result.isFulfilled ? 200 : 417)
        }),
      TestRoute(
        method: "GET", path: list, summary: "Lists pushes, the oldest first", query: TestPushesAPI.listParameters,
        takesConditions: true,
        answers: [.init(status: 200, description: "the pushes", schema: OpenAPI.reference("Pushes"))],
        serve: listPushes),
      TestRoute(
        method: "GET", path: list + "/{number}.svg", summary: "The alert of a push as a phone shows it",
        query: [
          .init(name: "theme", description: "light or dark", schema: TestSchemas.words(AlertPicture.Theme.self)),
          .init(name: "size", description: "the screen", schema: TestSchemas.words(AlertPicture.Size.self)),
        ],
        answers: [
          .init(status: 200, description: "the picture"),
          .init(status: 404, description: "no such push, or a push without an alert"),
        ], serve: picture),
      TestRoute(
        method: "GET", path: list + "/{number}", summary: "One push",
        answers: [
          .init(status: 200, description: "the push", schema: OpenAPI.reference("Push")),
          .init(status: 404, description: "no such push"),
        ],
        serve: { request in Response(try push(request).json) }),
      TestRoute(
        method: "DELETE", path: list, summary: "Empties the record",
        query: [.init(name: "token", description: "only the pushes to this token")],
        answers: [
          .init(status: 200, description: "the number of removed pushes", schema: OpenAPI.reference("Removed"))
        ],
        serve: { request in
          let removed = recorder.removeAll(of: request.query["token"].map(RecordedToken.text))
          return Response(["removed": .integer(removed)] as JSONValue)
        }),
    ]
  }

  /// Returns the push whose number is in the path.
  private func push(_ request: ControlRequest) throws(Problem) -> RecordedPush {
    guard let number = Int(request.parameters[0]), let push = recorder.push(number) else {
      throw .notFound("there is no push \(request.parameters[0].prefix(64))")
    }
    return push
  }

  private func picture(_ request: ControlRequest) async throws -> Response {
    let push = try push(request)
    func choice<Word: RawRepresentable & CaseIterable>(_ name: String, _ standard: Word) throws(Problem) -> Word
    where Word.RawValue == String {
      guard let text = request.query[name] else { return standard }
      guard let word = Word(rawValue: text) else {
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        throw TestRequestBody.problem(name, "expected one of \(words)")
      }
      return word
    }
    let (theme, size) = (try choice("theme", AlertPicture.Theme.light), try choice("size", AlertPicture.Size.medium))
    let bundleID = push.topic.map { PushType.split(topic: $0).bundleID } ?? ""
    let app = registrations.hasApp(topic: bundleID) ? try? registrations.app(topic: bundleID) : nil
    guard let picture = AlertPicture(push, appName: app?.name ?? bundleID, icon: app?.icon ?? "🧪") else {
      throw Problem.notFound("the push \(push.number) has no alert")
    }
    return Response(status: 200, contentType: "image/svg+xml", body: Array(picture.svg(theme, size).utf8))
  }

  private static let maximumList = 10_000
  private static let standardList = 1000

  private static var listParameters: [TestRoute.Parameter] {
    let states: [JSONValue] = PushState.allCases.map { .string($0.rawValue) }
    var parameters: [TestRoute.Parameter] = [
      .init(name: "token", description: "only pushes to this token"),
      .init(name: "since", description: "only pushes with a greater number", schema: ["type": "integer"]),
      .init(name: "state", description: "only pushes in this state", schema: ["enum": .array(states)]),
      .init(
        name: "limit", description: "the maximum number of pushes, by default \(standardList)",
        schema: ["type": "integer", "minimum": 1, "maximum": .integer(maximumList)]),
    ]
    for (name, _) in PushField.names {
      let description = "the value of this field; \(name)~ is a regular expression, \(name)* a part"
      parameters.append(.init(name: name, description: description))
    }
    return parameters
  }

  private func listPushes(_ request: ControlRequest) async throws -> Response {
    var query = request.query
    func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
      guard let text = query.removeValue(forKey: name) else { return nil }
      guard let number = Int(text), range.contains(number) else {
        throw TestRequestBody.problem(name, "expected a number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
    var expectation = PushExpectation(token: query.removeValue(forKey: "token").map(RecordedToken.text))
    expectation.state = .any
    if let text = query.removeValue(forKey: "state") {
      guard let state = PushState(rawValue: text) else {
        let words = PushState.allCases.map(\.rawValue).joined(separator: ", ")
        throw TestRequestBody.problem("state", "expected one of \(words)")
      }
      expectation.state = state
    }
    let since = try number("since", in: 0...Int.max) ?? 0
    let limit = try number("limit", in: 1...TestPushesAPI.maximumList) ?? TestPushesAPI.standardList
    do throws(PushCondition.Invalid) {
      let parser = JSONParser()
      for (name, text) in query.sorted(by: { $0.key < $1.key }) {
        expectation.conditions.append(try PushCondition(query: name, text, parser))
      }
    } catch {
      throw TestRequestBody.problem(error.field, error.problem)
    }
    let view = recorder.view(of: expectation.token, since: since)
    let pushes = Array(view.pushes.lazy.filter(expectation.isMet).prefix(limit).map(\.json))
    try expectation.checkCost()
    return Response(
      ["pushes": .array(pushes), "last": .integer(view.last), "dropped": .integer(view.dropped)] as JSONValue)
  }
}
