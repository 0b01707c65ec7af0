/// A whole answer of the control plane: status, JSON or another text, or nothing.
package struct Response: Sendable {
  /// The HTTP status (RFC 9110 §15).
  package var status: Int
  /// The media type of the body.
  package var contentType: StaticString = "application/json"
  /// The body; empty sends none.
  package var body: [UInt8] = []

  package init(status: Int, contentType: StaticString = "application/json", body: [UInt8] = []) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  /// An answer without a body.
  package static let noContent = Response(status: 204)
}
