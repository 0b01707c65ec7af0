/// The push services to which the gateway may send: the setting `push_services`.
enum PushServicesSetting: String, Sendable, CaseIterable {
  /// Push services with a public address.
  case `public`
  /// All, also those on this machine and in private networks.
  case all
  case off
}
