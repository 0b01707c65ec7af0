/// A message of NATS: one that arrived.
package struct NATSMessage: Sendable {
  package var subject: String
  /// Where an answer goes; nil: nobody waits for one.
  package var reply: String?
  /// Their values are texts of one line; an empty one is not sent.
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(
    subject: String, reply: String? = nil, headers: [(name: String, value: String)] = [], body: [UInt8] = []
  ) {
    self.subject = subject
    self.reply = reply
    self.headers = headers
    self.body = body
  }

  /// The value of the first header of this name, which is matched case by case.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The number that a stream gave it, where one handed it out or told of it; no stream gets so far as half of what fits.
  package var sequence: UInt64? { header("Nats-Sequence").flatMap { Int64($0) }.flatMap { UInt64(exactly: $0) } }

  /// The number of a status line, as in `NATS/1.0 503`; nil: the message has none.
  package var status: Int? { header("Status").flatMap { Int($0) } }
}

/// Why the broker did not do what it was asked for.
package enum NATSError: Error, Sendable, Equatable, CustomStringConvertible {
  /// No broker is connected.
  case disconnected
  /// No answer came in time: whether it was done is not known.
  case timedOut
  /// The broker knows nobody who would answer.
  case noResponders
  /// The connection was closed on this side.
  case closed
  /// The broker, or the library, refuses, and says why.
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

/// How brokers are reached.
package struct NATSOptions: Sendable {
  /// Addresses, `nats://host:port` or `tls://host:port`.
  package var servers: [String]
  /// A file of credentials, as `nsc` writes it.
  package var credentials: String?
  /// A PEM file of the authority that signed the brokers' certificates.
  package var authority: String?
  /// PEM files of the certificate that this client shows, and its key.
  package var certificate: String?
  package var key: String?
  /// What the brokers call this client in their lists.
  package var name: String

  package init(
    servers: [String], credentials: String? = nil, authority: String? = nil, certificate: String? = nil,
    key: String? = nil, name: String = "pushgateway"
  ) {
    self.servers = servers
    self.credentials = credentials
    self.authority = authority
    self.certificate = certificate
    self.key = key
    self.name = name
  }
}

/// What became of the link to the cluster.
package enum LinkState: Sendable, Equatable {
  /// A broker is connected, for the first time.
  case connected(server: String)
  case disconnected
  /// A broker is connected again: messages may have been lost.
  case reconnected(server: String)
  /// Messages were dropped here, because more came than was taken.
  case slowConsumer

  /// Whether a broker is connected.
  package var isConnected: Bool {
    switch self {
    case .connected, .reconnected, .slowConsumer: true
    case .disconnected: false
    }
  }
}
