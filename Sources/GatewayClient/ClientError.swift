import GatewayProtocol
import PushCore

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

  /// Makes the error of a gateway that ends the connection, whose GOAWAY has the reason as the body of a refusal. With
  /// a reason about the client's certificate, the gateway has refused the client.
  init(goingAway debugData: [UInt8]) {
    struct Refusal: Decodable {
      var reason: String
    }
    let text = (try? decodeJSON(Refusal.self, from: debugData))?.reason ?? String(decoding: debugData, as: UTF8.self)
    let reason = Reason(rawValue: text)
    let words = text + (reason?.advice.map { ": " + $0 } ?? "")
    if let reason, reason.isAboutCredential {
      self.init(.refused(status: reason.status), "refused with \(reason.status) \(words)")
    } else {
      self.init(.unreachable, "the gateway ends the connection: \(words)")
    }
  }

  /// True if the gateway has refused the request.
  package var isRefusal: Bool { if case .refused = kind { true } else { false } }

  /// True if a retry can't help.
  package var isPermanent: Bool {
    switch kind {
    case .unreachable, .refused, .storage: false
    case .untrusted, .misconfigured, .unidentified: true
    }
  }
}
