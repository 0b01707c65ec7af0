import HTTP2Transport

/// One route of the test API: the row from which the router and the OpenAPI document are made.
struct TestRoute: Sendable {
  private static let beginning: StaticString = "/test/v1"
  /// The beginning of all paths.
  static let prefix = "\(beginning)"

  /// Returns true if a request over HTTP/2 is for the test API.
  static func isFor(_ request: Message) -> Bool { request.has(.path, beginningWith: beginning) }

  /// A parameter of the query.
  struct Parameter: Sendable {
    var name: String
    var description: String
    var schema: JSONValue = ["type": "string"]
  }

  /// A possible answer.
  struct Answer: Sendable {
    var status: Int
    var description: String
    /// The schema of the body; nil without a body.
    var schema: JSONValue?
  }

  var method: String
  /// The path with `{…}` placeholders.
  var path: String
  /// The operation in a few words.
  var summary: String
  var query: [Parameter] = []
  /// True if the query may have conditions on fields too, which the route checks itself.
  var takesConditions = false
  /// The schema of the request's body; nil without a body.
  var body: JSONValue?
  var answers: [Answer]
  /// True if the route may wait for an event: over HTTP/2 the wait ends with its stream.
  var isWaiting = false
  var serve: Router.Serve

  /// Refuses a parameter that the route does not have: a misspelled one would be ignored.
  func check(_ query: [String: String]) throws(Problem) {
    let names = Set(self.query.map(\.name))
    if !takesConditions, let name = query.keys.filter({ !names.contains($0) }).min() {
      throw TestRequestBody.problem(name, "unknown parameter: omit it")
    }
  }
}
