/// Where the engine is that gateways share: the brokers of a NATS cluster.
package struct BackendAddress: Sendable, Equatable {
  /// `nats://HOST:PORT` or `tls://HOST:PORT` each.
  let servers: [String]

  /// As somebody would write it.
  var text: String { servers.joined(separator: ",") }
}
