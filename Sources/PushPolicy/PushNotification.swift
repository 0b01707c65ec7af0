/// The `aps` dictionary of one push, parsed: what the sender asks to be shown, played and counted.
///
/// Keys of a wrong type count as absent, as on the real service; what a rule refuses is reported beside it
/// (``ParsedPayload/violations``).
public struct PushNotification: Sendable, Equatable {
  /// What is to be shown, when the payload holds any text.
  public var alert: Alert?
  /// The count to show on the app's icon; 0 clears it, `nil` leaves it as it is (B2).
  public var badge: Int?
  /// The sound to play.
  public var sound: Sound?
  /// The identifier of the app's category, or event type (`category`).
  public var category: String?
  /// What groups notifications of one conversation (`thread-id`).
  public var threadID: String?
  /// How much the push may interrupt (`interruption-level`).
  public var level = InterruptionLevel.active
  /// Where it stands in a digest, the highest first (`relevance-score`).
  public var relevanceScore = 0.0
  /// Whether the push asks for background work (`content-available: 1`).
  public var isContentAvailable = false

  public init() {}

  /// Texts of the alert (`aps.alert`), a string or an object.
  public struct Alert: Sendable, Equatable {
    /// The title, empty when there is none.
    public var title = ""
    /// The subtitle, empty when there is none.
    public var subtitle = ""
    /// The message, empty when there is none.
    public var body = ""
    /// The arguments of its localisation keys that the texts above do not show; an app's strings file may.
    public var arguments: [String] = []
    /// The legacy key that decides the buttons (A5).
    public var action = ActionKey.absent

    public init() {}
  }

  /// The payload's legacy `action-loc-key`, which decides an alert's buttons (A5).
  public enum ActionKey: Sendable, Equatable {
    /// Not in the payload: Close and View.
    case absent
    /// A string: Close, and this title in place of View.
    case title(String)
    /// JSON `null`: OK alone.
    case null
  }

  /// The sound of a push (`aps.sound`), a string or an object.
  public struct Sound: Sendable, Equatable {
    /// A bare file name, or `default`.
    public var name: String
    /// Whether it claims to be a critical alert.
    public var isCritical = false
    /// The sender's volume from 0 to 1, which only scales below the person's (S5).
    public var volume = 1.0

    public init(name: String) {
      self.name = name
    }
  }
}
