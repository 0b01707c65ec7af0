import Foundation
import GatewayProtocol
import PushCore

extension GatewayAddress {
  /// What a gateway listens on unless it is told otherwise, and what an invitation need not say.
  static let usualPort = 2197

  /// Reads `HOST:PORT`, or an address as a browser would write it, `https://HOST[:PORT][/…]`.
  ///
  /// - Parameter defaultPort: the port of `HOST`; nil: one has to be there.
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

  /// Where a gateway of this machine is reached: one that listens on every address has the certificate of loopback.
  var reachable: GatewayAddress {
    switch host {
    case "0.0.0.0": GatewayAddress(host: "127.0.0.1", port: port)
    case "::": GatewayAddress(host: "::1", port: port)
    default: self
    }
  }

  /// Whether it is this machine for whoever asks it.
  var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}

extension StateFolder {
  /// Where the gateway of this folder listens, as it has written it down; empty while none is ready.
  var listening: [GatewayAddress] {
    let text = FileManager.default.contents(atPath: listeningPath).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return text.split(separator: "\n").compactMap { try? GatewayAddress(String($0)) }
  }
}
