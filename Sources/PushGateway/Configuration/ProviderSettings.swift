import GatewayProtocol

/// Choices about the provider API where Apple's behaviour is not known, or where a test wants another one
/// (docs/provider-api.md).
struct ProviderSettings: Sendable {
  /// How many seconds a connection's provider token holds before another may take its place; 0: any number of changes.
  ///
  /// The real service's figure is 20 minutes; one library changes at exactly that age, so there is a minute of slack
  /// (reference §4.2).
  var tokenUpdateInterval: Int64 = 19 * 60
  /// Whether a push type that contradicts the topic's suffix, or the priority, is refused.
  var checksPushType = false
  /// What a key of the other environment gets: the spelling seen on the wire, or the documented one.
  var environmentKeyReason = Reason.badEnvironmentKeyInToken
  /// What an app that may not broadcast gets: the spelling seen on the wire, or the documented one.
  var broadcastFeatureReason = Reason.broadcastFeatureNotEnabled
}
