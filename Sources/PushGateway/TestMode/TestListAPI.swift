import HTTP2Transport
import PushCore
import PushStorage

/// The route for the list of tests, which the console of a test gateway shows. A test is a token.
struct TestListAPI: Sendable {
  let recorder: PushRecorder
  let expectations: ExpectationLog
  let registrations: any Registrations

  var routes: [TestRoute] {
    [
      TestRoute(
        method: "GET", path: TestRoute.prefix + "/tests",
        summary: "The tests by their tokens, with the results of their expectations",
        answers: [
          .init(status: 200, description: "the tests, the last one first", schema: OpenAPI.reference("Tests"))
        ],
        serve: { _ in Response(list) })
    ]
  }

  private struct Test {
    var pushes = 0
    /// The time of the last push or result in milliseconds since 1970.
    var last: Int64 = 0
    var results: [ExpectationLog.Entry] = []
  }

  /// The maximum number of tests in a list.
  private static let maximumCount = 1000

  /// The tests with the last pushes or results, the last one first.
  var list: JSONValue {
    // The key "" is for broadcasts, and for expectations of pushes to any token.
    var tests: [String: Test] = [:]
    for push in recorder.view(of: nil).pushes {
      let key = push.token ?? ""
      tests[key, default: Test()].pushes += 1
      tests[key, default: Test()].last = max(tests[key]?.last ?? 0, push.received)
    }
    for entry in expectations.entries {
      let key = entry.token ?? ""
      tests[key, default: Test()].results.append(entry)
      tests[key, default: Test()].last = max(tests[key]?.last ?? 0, entry.at)
    }
    let newest = tests.sorted { ($1.value.last, $0.key) < ($0.value.last, $1.key) }
    return ["tests": .array(newest.prefix(TestListAPI.maximumCount).map { json(of: $0.key, $0.value) })]
  }

  private func json(of token: String, _ test: Test) -> JSONValue {
    var members: [String: JSONValue] = [
      "pushes": .integer(test.pushes), "last": .timestamp(test.last),
      "failed": .integer(test.results.count { !$0.isFulfilled }), "expectations": .array(test.results.map(\.json)),
    ]
    if !token.isEmpty { members["token"] = .string(token) }
    members["device"] = device(of: token).map { .string($0) }
    return .object(members)
  }

  /// Returns the name of the device with a token; nil if there is none.
  private func device(of token: String) -> String? {
    guard let token = DeviceToken(hex: Array(token.utf8).span),
      let device = registrations.registration(token)?.0.device
    else { return nil }
    return registrations.device(device)?.name
  }
}
