/// The `aps` dictionary of one push, parsed: what the sender asks to be shown, played and counted.
///
/// Keys of a wrong type count as absent, as on the real service; what a rule refuses is reported beside it
/// (``ParsedPayload/violations``).
package struct PushNotification: Sendable, Equatable {
  /// What is to be shown, when the payload holds any text.
  package var alert: Alert?
  /// The count to show on the app's icon; 0 clears it, `nil` leaves it as it is (B2).
  package var badge: Int?
  /// The sound to play.
  package var sound: Sound?
  /// The identifier of the app's category, or event type (`category`).
  package var category: String?
  /// What groups notifications of one conversation (`thread-id`).
  package var threadID: String?
  /// How much the push may interrupt (`interruption-level`).
  package var level = InterruptionLevel.active
  /// Where it stands in a digest, the highest first (`relevance-score`).
  package var relevanceScore = 0.0
  /// Whether the push asks for background work (`content-available: 1`).
  package var isContentAvailable = false

  package init() {}

  /// Texts of the alert (`aps.alert`), a string or an object.
  package struct Alert: Sendable, Equatable {
    /// The title, empty when there is none.
    package var title = ""
    /// The subtitle, empty when there is none.
    package var subtitle = ""
    /// The message, empty when there is none.
    package var body = ""
    /// The arguments of its localisation keys that the texts above do not show; an app's strings file may.
    package var arguments: [String] = []
    /// The legacy key that decides the buttons (A5).
    package var action = ActionKey.absent

    package init() {}
  }

  /// The payload's legacy `action-loc-key`, which decides an alert's buttons (A5).
  package enum ActionKey: Sendable, Equatable {
    /// Not in the payload: Close and View.
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
    /// Whether it claims to be a critical alert.
    package var isCritical = false
    /// The sender's volume from 0 to 1, which only scales below the person's (S5).
    package var volume = 1.0

    package init(name: String) {
      self.name = name
    }
  }
}
