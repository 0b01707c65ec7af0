import Foundation
import Testing

@testable import PushGatewayTesting

/// The client against the OpenAPI document of the test API.
@Suite struct TestAPITests {
  let document: JSONValue

  init() throws {
    let page = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../docs/reference/test-api.openapi.json")
    document = try JSONDecoder().decode(JSONValue.self, from: try Data(contentsOf: page.standardized))
  }

  /// Returns the names of the members of a schema, or of the elements of one of its members.
  func members(_ schema: String, _ member: String? = nil) throws -> Set<String> {
    var value = document["components"]?["schemas"]?[schema]
    if let member { value = value?["properties"]?[member] }
    guard case .object(let properties)? = value?["properties"] ?? value?["items"]?["properties"] else {
      throw PushGatewayError("the document has no schema \(schema) \(member ?? "")")
    }
    return Set(properties.keys)
  }

  func missing(_ names: Set<String>, in members: Set<String>) -> Set<String> { names.subtracting(members) }

  func words(_ schema: String, _ member: String) -> JSONValue? {
    document["components"]?["schemas"]?[schema]?["properties"]?[member]?["enum"]
  }

  @Test(arguments: TestAPI.Route.allCases)
  func `each route is one of the document`(_ route: TestAPI.Route) {
    #expect(document["paths"]?[route.path]?[route.method.lowercased()] != nil)
  }

  @Test func `pushes have the members of the document`() throws {
    #expect(try members("Push") == Set(RecordedPush.CodingKeys.allCases.map(\.rawValue)))
    #expect(try members("Push", "sender") == Set(RecordedPush.Sender.CodingKeys.allCases.map(\.rawValue)))
    #expect(try members("Push", "suppressed") == ["part", "rule", "setting"])
    #expect(try members("Push", "findings") == ["rule", "at", "message", "refused"])
    #expect(try members("Push", "lint") == ["rule", "at", "message", "severity"])
    #expect(try members("Push", "events") == ["at", "event", "detail"])
  }

  @Test func `failures and reports have the members of the document`() throws {
    #expect(try missing(["detail", "recorded", "pushes", "nearest"], in: members("Failure")) == [])
    #expect(try members("Failure", "nearest") == ["push", "differences", "cause"])
    let line: Set = ["number", "id", "token", "status", "reason", "verdict", "expected", "text"]
    #expect(try missing(line, in: members("Report", "lines")) == [])
    #expect(try members("Report") == ["lines", "summary", "dropped"])
  }

  @Test func `requests have members of the document`() throws {
    let expected: Set = ["token", "match", "state", "count", "exactly", "within"]
    #expect(try missing(expected, in: members("Expectation")) == [])
    #expect(try missing(["topic", "preferences", "token", "channels"], in: members("DeviceRequest")) == [])
    #expect(try members("AnswerRequest") == ["action", "id"])
    #expect(try members("TokenRequest") == ["state", "count", "for", "retry-after"])
    #expect(try members("FaultsRequest") == ["faults"])
    #expect(try members("ClockRequest") == ["advance", "reset"])
  }

  @Test func `states are those of the document`() {
    #expect(words("Expectation", "state") == .array(PushState.allCases.map { .string($0.rawValue) }))
    #expect(words("TokenRequest", "state") == .array(TokenState.allCases.map { .string($0.rawValue) }))
  }

  @Test(
    arguments: [
      (Duration.seconds(5), "5000ms"), (.milliseconds(250), "250ms"), (.seconds(3660), "3660000ms"), (.zero, "0ms"),
      (.seconds(-1), "-1000ms"), (.seconds(Int64.max), "9223372036854775807s"),
    ] as [(Duration, String)])
  func `a duration is written with a unit`(_ duration: Duration, _ text: String) {
    #expect(duration.text == text)
  }

  @Test func `JSON is written as it is read`() throws {
    let text = #"{"a":[1,2.5,true,null,"x/y"],"b":{}}"#
    let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    let expected: JSONValue = ["a": [1, 2.5, true, .null, "x/y"], "b": [:]]
    #expect(value == expected)
    #expect(value.description == text)
  }
}
