import GatewayProtocol
import HTTP2Transport
import PushCore

/// The kinds of requests, by their paths.
extension Message {
  /// The beginning of the paths of device routes.
  static let devicePrefix: StaticString = "/v1/"

  /// True if the request is for a route of this gateway's own API, with HTTP errors; other clients expect
  /// errors of APNs.
  var isControl: Bool {
    isForDevices || has(.path, beginningWith: AdminAPI.prefix) || isForHealth || WebAPI.isFor(self)
      || MessageDoor(self) != nil
  }

  /// True if the request is for a device route; senders use the path next to them to retract pushes.
  var isForDevices: Bool {
    has(.path, beginningWith: Message.devicePrefix) && !has(.path, beginningWith: Paths.pushes)
  }

  /// True if the request is for the health routes.
  var isForHealth: Bool {
    has(.path, HealthAPI.alivePath) || has(.path, HealthAPI.readyPath)
  }
}
