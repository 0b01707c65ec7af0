/// The reason why a request got no response, or why an operation of a device failed, with a text for the user.
package struct ClientError: Error, CustomStringConvertible {
  package enum Kind: Sendable {
    /// No server answers, or the connection was lost: a later attempt may succeed.
    case unreachable
    /// The server is not the trusted gateway.
    case untrusted
    /// The file of trusted certificates is missing or invalid.
    case misconfigured
    /// The file of the client certificate is missing or invalid.
    case unidentified
    /// The gateway refused the request with this status.
    case refused(status: Int)
    /// A file of a device can't be read or written.
    case storage
  }

  package var kind: Kind
  /// One line with the failure and a remedy.
  package var description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// True if a retry can't help.
  package var isPermanent: Bool {
    switch kind {
    case .unreachable, .refused, .storage: false
    case .untrusted, .misconfigured, .unidentified: true
    }
  }
}
