/// A complete response of the control plane: a status, and JSON, another text or no body.
package struct Response: Sendable {
  /// The HTTP status (RFC 9110 §15).
  package var status: Int
  /// The media type of the body.
  package var contentType: StaticString = "application/json"
  /// The body; if empty, none is sent.
  package var body: [UInt8] = []
  /// Further fields, with names in lower case.
  package var fields: [(name: StaticString, value: String)] = []

  package init(
    status: Int, contentType: StaticString = "application/json", body: [UInt8] = [],
    fields: [(name: StaticString, value: String)] = []
  ) {
    self.status = status
    self.contentType = contentType
    self.body = body
    self.fields = fields
  }

  /// A response without a body.
  package static let noContent = Response(status: 204)
}
