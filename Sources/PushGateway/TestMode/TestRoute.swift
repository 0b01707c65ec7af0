import HTTP2Transport

/// One route of the test API: the row from which the router and the OpenAPI document are made.
struct TestRoute: Sendable {
  /// The beginning of all paths.
  static let prefix = "/test/v1"

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
  /// The schema of the request's body; nil without a body.
  var body: JSONValue?
  var answers: [Answer]
  var serve: Router.Serve
}
