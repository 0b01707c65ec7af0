/// A whole answer of the control plane: status, JSON or nothing.
struct Response: Sendable {
  /// The HTTP status (RFC 9110 §15).
  var status: Int
  /// The media type of the body.
  var contentType: StaticString = "application/json"
  /// The body; empty sends none.
  var body: [UInt8] = []

  /// An answer without a body.
  static let noContent = Response(status: 204)
}
