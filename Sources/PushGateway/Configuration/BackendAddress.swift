/// The storage backend that several gateways share: the brokers of a NATS cluster.
package struct BackendAddress: Sendable, Equatable {
  /// The addresses of the brokers, each `nats://HOST:PORT` or `tls://HOST:PORT`.
  let servers: [String]

  /// The addresses in the format of the setting.
  var text: String { servers.joined(separator: ",") }
}
