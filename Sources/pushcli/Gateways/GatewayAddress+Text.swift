import Foundation
import GatewayProtocol

extension GatewayAddress {
  /// The default port of a gateway, which invitations can omit.
  static let usualPort = 2197

  /// Parses `HOST:PORT`, or a URL as in a browser, `https://HOST[:PORT][/…]`.
  ///
  /// - Parameter defaultPort: the port for `HOST` alone; nil if a port is required.
  /// - Throws: ``CommandFailure`` of wrong usage.
  init(_ text: String, defaultPort: Int? = nil) throws(CommandFailure) {
    var (rest, port) = (text[...], defaultPort)
    if let mark = text.range(of: "://") {
      guard text[..<mark.lowerBound].lowercased() == "https" else {
        throw CommandFailure(
          .usage, "\"\(text)\" is not an address: a gateway speaks HTTPS alone, as https://HOST:PORT")
      }
      rest = text[mark.upperBound...].prefix { $0 != "/" }
      port = 443
    }
    if let colon = rest.lastIndex(of: ":"), rest.last != "]" {
      port = Int(rest[rest.index(after: colon)...]) ?? 0
      rest = rest[..<colon]
    }
    let host = rest.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    guard let port, (1...65_535).contains(port), !host.isEmpty else {
      throw CommandFailure(
        .usage, "\"\(text)\" is not an address: expected HOST:PORT with a port from 1 to 65535, as 127.0.0.1:2197")
    }
    self.init(host: host, port: port)
  }

  /// The address at which a gateway of this machine is reached. A gateway that listens on every address has a
  /// certificate for the loopback address.
  var reachable: GatewayAddress {
    switch host {
    case "0.0.0.0": GatewayAddress(host: "127.0.0.1", port: port)
    case "::": GatewayAddress(host: "::1", port: port)
    default: self
    }
  }

  /// True if every machine reaches itself at this address.
  var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}
