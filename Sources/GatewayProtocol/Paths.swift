/// The paths of the APIs that both ends use.
package enum Paths {
  /// The streams of devices.
  package static let deviceStream: StaticString = "/v1/device/stream"
  /// The streams of devices, with the beginning of a query.
  package static let deviceStreamQuery: StaticString = "/v1/device/stream?"
  /// Pushes to a device token, which follows.
  package static let devicePush: StaticString = "/3/device/"
  /// Retractions of sent pushes: a device token and an `apns-id` follow. Apple has no such path.
  package static let pushes: StaticString = "/v1/pushes/"
  /// Messages of a sender without a provider token, whose name follows. Apple has no such path.
  package static let messages: StaticString = "/send/"
  /// Heartbeats of a sender; its name follows. Apple has no such path.
  package static let heartbeats: StaticString = "/beat/"
  /// Messages in the form of ntfy: `/` and a topic, which is the name of a sender, can follow.
  package static let ntfy: StaticString = "/ntfy"
  /// Messages in the form of Gotify.
  package static let gotify: StaticString = "/gotify/message"
  /// Webhooks of services; the name of a sender follows. Apple has no such path.
  package static let hooks: StaticString = "/hooks/"
  /// Web Push messages; the id of an endpoint follows.
  package static let webPush: StaticString = "/webpush/"
  /// Broadcasts to a channel of an app, whose bundle id follows.
  package static let broadcast: StaticString = "/4/broadcasts/apps/"
  /// The management of an app's channels; its bundle id follows.
  package static let channels: StaticString = "/1/apps/"
}
