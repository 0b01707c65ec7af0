/// A NATS message that was received.
package struct NATSMessage: Sendable {
  package var subject: String
  /// The subject to which an answer is sent; nil: no answer is expected.
  package var reply: String?
  /// The headers. Their values are texts of one line; an empty one is not sent.
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(
    subject: String, reply: String? = nil, headers: [(name: String, value: String)] = [], body: [UInt8] = []
  ) {
    (self.subject, self.reply, self.headers, self.body) = (subject, reply, headers, body)
  }

  /// Returns the value of the first header of this name; case matters.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The sequence number from the stream that delivered or republished the message. No stream reaches half of the
  /// values of `UInt64`; a larger number is nil.
  package var sequence: UInt64? { header("Nats-Sequence").flatMap { Int64($0) }.flatMap { UInt64(exactly: $0) } }

  /// The number of a status line, as in `NATS/1.0 503`; nil: the message has none.
  package var status: Int? { header("Status").flatMap { Int($0) } }
}

/// The reason why a request to the broker failed.
package enum NATSError: Error, Sendable, Equatable, CustomStringConvertible {
  /// No broker is connected.
  case disconnected
  /// No answer arrived in time: the request may have succeeded or failed.
  case timedOut
  /// The broker has no subscriber that would answer.
  case noResponders
  /// This side closed the connection.
  case closed
  /// The broker or the library refused the request; the text gives the reason.
  case refused(String)

  package var description: String {
    switch self {
    case .disconnected: "no broker of the cluster is connected"
    case .timedOut: "the broker did not answer in time"
    case .noResponders:
      "no broker in the cluster answers this request: JetStream is not enabled, or its leader is being elected"
    case .closed: "the connection to the cluster is closed"
    case .refused(let reason): reason
    }
  }
}

/// The addresses and credentials for connections to brokers.
package struct NATSOptions: Sendable {
  /// The addresses, `nats://host:port` or `tls://host:port`.
  package var servers: [String]
  /// A credentials file, as `nsc` writes it.
  package var credentials: String?
  /// A PEM file of the CA that signed the brokers' certificates.
  package var authority: String?
  /// The client name that the brokers show in their lists.
  package var name: String

  package init(servers: [String], credentials: String? = nil, authority: String? = nil, name: String) {
    (self.servers, self.credentials, self.authority, self.name) = (servers, credentials, authority, name)
  }
}

package enum LinkState: Sendable, Equatable {
  /// A broker is connected for the first time.
  case connected(server: String)
  case disconnected
  /// A broker is connected again: messages may have been lost.
  case reconnected(server: String)
  /// The library dropped messages, because they arrived faster than they were processed.
  case slowConsumer

  package var isConnected: Bool {
    switch self {
    case .connected, .reconnected, .slowConsumer: true
    case .disconnected: false
    }
  }
}
