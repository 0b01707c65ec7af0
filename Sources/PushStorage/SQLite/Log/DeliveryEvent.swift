/// An event in the life of a push (design §1).
package enum DeliveryEvent: String, Sendable, Codable, CaseIterable {
  case accepted, refused, stored, collapsed, transmitted, acknowledged, presented, suppressed
  case viewed, closed, action, expired, dropped
  /// Devices ignore a part of an accepted payload, because its type is wrong.
  case ignored
  /// An injected fault took effect.
  case fault
  /// A stored push left the mailbox, because its device can't read it.
  case undeliverable
  /// The sender named the trace that the push belongs to.
  case traced
  /// The sender retracted the push.
  case retracted
  /// The push broke a rule; the settings of its app log such a breach instead of refusing the push.
  case reported
  /// Events of pushes were not logged. The row belongs to no push; its detail has their number.
  case lost
  /// The user has unsubscribed from the marketing of the app. The id is that of the push on whose alert the user did it,
  /// or a new one.
  case unsubscribed
  /// The push was sent to the upstream, because its device token is unknown here (setting `upstream`).
  case forwarded
}
