import Foundation
import HTTP2Transport

/// The addresses that serve HTTP/1.1, for monitors and load balancers: the setting `http_listen`.
enum HTTPListen: Sendable, Equatable {
  /// ``standard`` if it is free, else a free port of loopback; always a free port if a listener has one.
  case automatic
  case none
  /// `HOST:PORT`, one or several.
  case addresses([String])

  /// The standard address, with the port after that of the provider API.
  static let standard = "127.0.0.1:2198"
  /// A loopback address with a port that the system assigns.
  static let free = "127.0.0.1:0"
}

extension SettingType<HTTPListen> {
  /// `auto`, `none`, or addresses separated by commas.
  static var httpListen: Self {
    SettingType(
      expected: "HOST:PORT, several separated by commas, or auto, or none", form: .list,
      read: { (text) throws(ConfigurationError) in
        switch text {
        case "auto": return .automatic
        case "none": return HTTPListen.none
        default:
          let entries = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
          for entry in entries { _ = try SettingAddress.address(entry) }
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
