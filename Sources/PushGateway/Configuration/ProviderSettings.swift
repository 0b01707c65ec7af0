import GatewayProtocol

/// Settings of the provider API for cases in which Apple's behavior is unknown, or a test needs a different one
/// (docs/reference/provider-api.md).
struct ProviderSettings: Sendable {
  /// The time in seconds before a connection may change its provider token; 0 for changes at any time.
  ///
  /// The real service's value is 20 minutes; one library changes its token at exactly that age, so this value is a
  /// minute shorter (APNs reference §4.2).
  var tokenUpdateInterval: Int64 = 19 * 60
  /// True if a push type that contradicts the topic's suffix, or the priority, is refused.
  var checksPushType = false
  /// The reason in the response to a key of the other environment: the spelling seen on the wire, or the documented
  /// one.
  var environmentKeyReason = Reason.badEnvironmentKeyInToken
  /// The reason in the response to an app without the broadcast feature: the spelling seen on the wire, or the
  /// documented one.
  var broadcastFeatureReason = Reason.broadcastFeatureNotEnabled
  /// The service that gets the pushes for unknown device tokens.
  var upstream = UpstreamSetting.off
  /// A file with the CAs of the upstream's certificate; nil for those of the system.
  var upstreamAuthority: String?
}
