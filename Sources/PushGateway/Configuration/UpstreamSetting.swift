import GatewayProtocol

/// The service that gets the pushes for unknown device tokens: the setting `upstream`.
enum UpstreamSetting: Sendable, Equatable {
  case off
  /// Apple's service, of the environment of the sender's connection.
  case apns
  /// Another gateway, for both environments.
  case gateway(GatewayAddress)

  private static let scheme = "https://"

  /// Reads `off`, `apns` or `https://HOST:PORT`; nil for any other text.
  init?(_ text: String) {
    switch text {
    case "off": self = .off
    case "apns": self = .apns
    default:
      guard text.hasPrefix(UpstreamSetting.scheme),
        let address = GatewayAddress(line: String(text.dropFirst(UpstreamSetting.scheme.count)))
      else { return nil }
      self = .gateway(address)
    }
  }

  var text: String {
    switch self {
    case .off: "off"
    case .apns: "apns"
    case .gateway(let address): UpstreamSetting.scheme + address.description
    }
  }
}

extension SettingType<UpstreamSetting> {
  static var upstream: Self {
    SettingType(
      expected: "off, apns or https://HOST:PORT", read: { text in UpstreamSetting(text) }, text: { $0.text })
  }
}
