/// The consent of a user to marketing (N9).
extension Preferences {
  /// Returns true if pushes of an app that are declared as marketing may alert the user.
  ///
  /// The preference of the app takes precedence. Without one, an app may show marketing if it may advertise, or if the user
  /// allows the marketing of all apps.
  package func allowsMarketing(of topic: String) -> Bool {
    let app = apps[topic]
    return app?.marketing ?? (app?.advertising == true || marketing)
  }

  /// Returns true if the user has turned the marketing of this app off.
  package func isUnsubscribed(from topic: String) -> Bool { apps[topic]?.marketing == false }

  /// Returns the violation of rule N9 by a push that its sender declares as marketing; nil if the user allows it, or if
  /// it requests neither alert nor sound.
  package func marketingViolation(by push: PushNotification, topic: String) -> Violation? {
    guard push.alert != nil || push.sound != nil, !allowsMarketing(of: topic) else { return nil }
    let message =
      isUnsubscribed(from: topic)
      ? "the user has unsubscribed from the marketing of this app: send it no more until the user turns it on again"
      : "the user has not turned marketing on for this app: send it only to users who have"
    return Violation(rule: .n9, pointer: "/marketing", message: message)
  }

  /// Returns the topics, out of `topics`, that lose their permission for marketing by a change of preferences, or from
  /// which the user has unsubscribed.
  package static func unsubscribed(_ topics: some Sequence<String>, from before: Preferences, to after: Preferences)
    -> [String]
  {
    topics.filter { topic in
      after.isUnsubscribed(from: topic) && !before.isUnsubscribed(from: topic)
        || before.allowsMarketing(of: topic) && !after.allowsMarketing(of: topic)
    }
  }
}
