/// The parsed `aps` dictionary of one push: the content to show, to play and to count.
///
/// Keys with a value of a wrong type count as absent, as in Apple's service; violations of rules are reported
/// separately (``ParsedPayload/violations``).
package struct PushNotification: Sendable, Equatable {
  /// The alert; nil if the payload contains no text.
  package var alert: Alert?
  /// The count on the app's icon; 0 clears it, `nil` leaves it unchanged (B2).
  package var badge: Int?
  package var sound: Sound?
  /// The identifier of the app's category, or event type (`category`).
  package var category: String?
  /// The identifier of a conversation, by which notifications are grouped (`thread-id`).
  package var threadID: String?
  /// The requested interruption level (`interruption-level`).
  package var level = InterruptionLevel.active
  /// The relevance in a summary, which lists the highest first (`relevance-score`).
  package var relevanceScore = 0.0
  /// True if the push requests background work (`content-available: 1`).
  package var isContentAvailable = false

  package init() {}

  /// The texts of the alert (`aps.alert`), a string or an object.
  package struct Alert: Sendable, Equatable {
    /// The title; empty if there is none.
    package var title = ""
    /// The subtitle; empty if there is none.
    package var subtitle = ""
    /// The message; empty if there is none.
    package var body = ""
    /// The arguments of the localization keys that the texts above do not show; an app's strings file may show them.
    package var arguments: [String] = []
    /// The legacy key that determines the buttons (A5).
    package var action = ActionKey.absent

    package init() {}
  }

  /// The legacy `action-loc-key` of the payload, which determines an alert's buttons (A5).
  package enum ActionKey: Sendable, Equatable {
    /// No key in the payload: Close and View.
    case absent
    /// A string: Close, and this title in place of View.
    case title(String)
    /// JSON `null`: OK alone.
    case null
  }

  /// The sound of a push (`aps.sound`), a string or an object.
  package struct Sound: Sendable, Equatable {
    /// A bare file name, or `default`.
    package var name: String
    /// True if the sender requests a critical alert.
    package var isCritical = false
    /// The sender's volume from 0 to 1, which can only lower the user's volume (S5).
    package var volume = 1.0

    package init(name: String) {
      self.name = name
    }
  }
}
