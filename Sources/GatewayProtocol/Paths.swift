/// Where the APIs are that both ends name.
package enum Paths {
  /// The streams of devices.
  package static let deviceStream: StaticString = "/v1/device/stream"
  /// Pushes to a device token, which follows.
  package static let devicePush: StaticString = "/3/device/"
}
