import PushCore
package import PushPolicy

/// The address of a gateway's TLS listener.
package struct GatewayAddress: Hashable, Sendable, CustomStringConvertible {
  /// A name, or an address without brackets.
  package var host: String
  package var port: Int

  package init(host: String, port: Int) { (self.host, self.port) = (host, port) }

  /// Reads `HOST:PORT` as the lines of the protocol contain it: printable ASCII characters, an IPv6
  /// address in brackets.
  package init?(line text: String) {
    guard text.utf8.count <= Limits.maximumAddressSize, text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }),
      let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (1...65_535).contains(port)
    else { return nil }
    var host = text[..<colon]
    if host.first == "[", host.last == "]" {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, !host.contains(where: { "[]/@\"\\".contains($0) }) else { return nil }
    self.init(host: String(host), port: port)
  }

  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Returns the addresses in an array of a line, each once. Invalid elements are ignored, as are addresses beyond
  /// ``Limits/maximumGateways``.
  package static func addresses(_ element: JSONElement?) -> [GatewayAddress] {
    var addresses: [GatewayAddress] = []
    element?.forEachElement { element in
      guard addresses.count < Limits.maximumGateways, let address = element.string.flatMap(GatewayAddress.init(line:)),
        !addresses.contains(address)
      else { return }
      addresses.append(address)
    }
    return addresses
  }
}
