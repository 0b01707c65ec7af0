import GatewayProtocol
import HTTP2Transport

extension Message {
  /// Whether a request is for ``BroadcastAPI``, so that its answer has an `apns-request-id`.
  var isForBroadcasts: Bool {
    has(.path, beginningWith: "/4/broadcasts/") || has(.path, beginningWith: Paths.channels)
  }
}
