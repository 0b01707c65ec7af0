import Foundation

/// Where the engine is that gateways share: the brokers of a NATS cluster.
package struct BackendAddress: Sendable, Equatable {
  /// `nats://HOST:PORT` or `tls://HOST:PORT` each.
  package let servers: [String]

  /// As somebody would write it.
  package var text: String { servers.joined(separator: ",") }

  /// Reads addresses with commas between them; the first says the scheme of those that name none.
  ///
  /// - Returns: nil for what is no such list.
  package init?(_ text: String) {
    var servers: [String] = []
    var scheme: String?
    for entry in text.split(separator: ",") {
      let entry = entry.trimmingCharacters(in: .whitespaces)
      let parts = entry.components(separatedBy: "://")
      if parts.count == 2 { scheme = parts[0] }
      guard let scheme, ["nats", "tls"].contains(scheme), parts.count <= 2, let place = parts.last,
        (try? Configuration.address(place)) != nil
      else { return nil }
      servers.append("\(scheme)://\(place)")
    }
    guard !servers.isEmpty else { return nil }
    self.servers = servers
  }
}
