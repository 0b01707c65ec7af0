import Foundation
import HTTP2Transport

/// The addresses that serve HTTP/1.1, for monitors, load balancers and senders of messages: the setting `http_listen`.
enum HTTPListen: Sendable, Equatable {
  /// ``standard`` if it is free, else a free port of loopback; always a free port if a listener has one.
  case automatic
  case none
  /// Entries, one or several.
  case addresses([String])

  /// The standard address, with the port after that of the provider API.
  static let standard = "127.0.0.1:2198"
  /// A loopback address with a port that the system assigns.
  static let free = "127.0.0.1:0"
  /// The beginning of an entry with TLS.
  static let secureScheme = "https://"

  /// An entry: `HOST:PORT`, or `https://HOST:PORT` with TLS.
  struct Entry: Sendable, Equatable {
    var address: Listener.Address
    var isSecure: Bool

    init(_ text: String) throws(ConfigurationError) {
      isSecure = text.hasPrefix(HTTPListen.secureScheme)
      let rest = isSecure ? String(text.dropFirst(HTTPListen.secureScheme.count)) : text
      guard !rest.contains("/") else {
        throw ConfigurationError(
          description:
            "invalid address \"\(text)\": expected HOST:PORT, or https://HOST:PORT for TLS, as https://0.0.0.0:2199")
      }
      address = try SettingAddress.address(rest)
    }

    /// Returns the entry with another port; unchanged if it is nil.
    func text(port: Int?) -> String {
      guard case .tcp(let host, let own) = address else { return "" }
      let place = host.contains(":") ? "[\(host)]" : host
      return "\(isSecure ? HTTPListen.secureScheme : "")\(place):\(port ?? own)"
    }
  }
}

extension SettingType<HTTPListen> {
  /// `auto`, `none`, or entries separated by commas.
  static var httpListen: Self {
    SettingType(
      expected: "HOST:PORT or https://HOST:PORT, several separated by commas, or auto, or none", form: .list,
      read: { (text) throws(ConfigurationError) in
        switch text {
        case "auto": return .automatic
        case "none": return HTTPListen.none
        default:
          let entries = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
          for entry in entries { _ = try HTTPListen.Entry(entry) }
          return entries.isEmpty ? nil : .addresses(entries)
        }
      },
      text: { value in
        switch value {
        case .automatic: "auto"
        case .none: "none"
        case .addresses(let entries): entries.joined(separator: ",")
        }
      })
  }
}
