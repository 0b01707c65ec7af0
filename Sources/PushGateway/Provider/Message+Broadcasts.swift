import GatewayProtocol
import HTTP2Transport

extension Message {
  /// True if ``BroadcastAPI`` serves the request, so that its response has an `apns-request-id`.
  var isForBroadcasts: Bool {
    has(.path, beginningWith: "/4/broadcasts/") || has(.path, beginningWith: Paths.channels)
  }
}
