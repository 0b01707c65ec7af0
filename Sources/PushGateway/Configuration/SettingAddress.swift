import Foundation
import HTTP2Transport
import PushCore

/// Parses the addresses in the values of settings.
enum SettingAddress {
  /// Returns true if an entry of `listen` serves only the management of broadcast channels:
  /// `HOST:PORT=production+channels`.
  static func servesChannelsOnly(_ entry: String) -> Bool { entry.hasSuffix(channelsMark) }

  static let channelsMark = "+channels"

  /// Parses an entry of `listen`: `HOST:PORT`, or with an environment `HOST:PORT=production`, `=development`,
  /// `=by-name`, optionally followed by `+channels`.
  ///
  /// - Parameter otherwise: the environment if neither the entry nor a client's host name determines one.
  static func listener(
    _ entry: String, otherwise: Environment
  ) throws(ConfigurationError) -> (Listener.Address, ConnectionOptions.EnvironmentRule) {
    let whole = servesChannelsOnly(entry) ? String(entry.dropLast(channelsMark.count)) : entry
    let parts = whole.split(separator: "=", maxSplits: 1).map(String.init)
    let address = try address(parts.first ?? "")
    guard parts.count > 1 else { return (address, .fixed(otherwise)) }
    guard let rule = environmentRule(parts[1], otherwise: otherwise) else {
      throw ConfigurationError(
        description:
          "invalid address \"\(entry)\": expected development, production or by-name after =, optionally with +channels"
      )
    }
    return (address, rule)
  }

  /// Parses `production`, `development` or `by-name`; returns nil for any other word.
  static func environmentRule(_ word: String, otherwise: Environment) -> ConnectionOptions.EnvironmentRule? {
    word == "by-name" ? .byHostName(otherwise: otherwise) : Environment(rawValue: word).map { .fixed($0) }
  }

  /// Parses addresses of brokers, separated by commas; an address without a scheme uses the one before it.
  static func brokers(_ text: String) -> BackendAddress? {
    var servers: [String] = []
    var scheme: String?
    for entry in text.split(separator: ",") {
      let parts = entry.trimmingCharacters(in: .whitespaces).components(separatedBy: "://")
      if parts.count == 2 { scheme = parts[0] }
      guard let scheme, ["nats", "tls"].contains(scheme), parts.count <= 2, let location = parts.last,
        (try? address(location)) != nil
      else { return nil }
      servers.append("\(scheme)://\(location)")
    }
    return servers.isEmpty ? nil : BackendAddress(servers: servers)
  }

  /// Parses `HOST:PORT`, with brackets around an IPv6 address.
  static func address(_ text: String) throws(ConfigurationError) -> Listener.Address {
    let colon = text.lastIndex(of: ":")
    guard let colon, let port = Int(text[text.index(after: colon)...]), (0...65535).contains(port),
      colon != text.startIndex
    else {
      throw ConfigurationError(description: "invalid address \"\(text)\": expected HOST:PORT, as 127.0.0.1:2197")
    }
    let host = text[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    return .tcp(host: host, port: port)
  }
}

extension SettingType<BackendAddress> {
  /// The brokers of a cluster.
  static var backend: Self {
    SettingType(
      expected: "nats://HOST:PORT or tls://HOST:PORT, several separated by commas",
      read: SettingAddress.brokers, text: { $0.text })
  }
}

extension SettingType<[IPAddress]> {
  /// IP addresses, separated by commas.
  static var ipAddresses: Self {
    SettingType(
      expected: "an IP address, several separated by commas", form: .list, shape: .list,
      read: { text in
        let entries = text.split(separator: ",").map { IPAddress($0.trimmingCharacters(in: .whitespaces)) }
        let addresses = entries.compactMap(\.self)
        return entries.isEmpty || addresses.count < entries.count ? nil : addresses
      },
      text: { $0.map(\.description).joined(separator: ",") })
  }
}

extension SettingType<[String]> {
  /// `HOST:PORT`, several separated by commas.
  static var addresses: Self {
    SettingType(
      expected: "HOST:PORT, several separated by commas", form: .list, shape: .list,
      read: { (text) throws(ConfigurationError) in
        let entries = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        for entry in entries { _ = try SettingAddress.address(entry) }
        return entries.isEmpty ? nil : entries
      },
      text: { $0.joined(separator: ",") })
  }

  /// Entries of `listen`, separated by commas.
  static var listeners: Self {
    SettingType(
      expected: "HOST:PORT, several separated by commas", form: .list, shape: .list,
      read: { (text) throws(ConfigurationError) in
        let entries = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        for entry in entries { _ = try SettingAddress.listener(entry, otherwise: .development) }
        return entries.isEmpty ? nil : entries
      },
      text: { $0.joined(separator: ",") })
  }
}

extension ConnectionOptions.EnvironmentRule: CustomStringConvertible {
  var description: String {
    switch self {
    case .fixed(let environment): environment.rawValue
    case .byHostName: "by-name"
    }
  }
}
