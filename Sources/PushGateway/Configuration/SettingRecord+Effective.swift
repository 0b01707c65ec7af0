package import GatewayProtocol

extension SettingRecord {
  package init(_ setting: Configuration.Effective) {
    self.init(name: setting.name, value: setting.value, origin: setting.origin, change: setting.change.rawValue)
  }
}
