import PushPolicy

/// The importance of a message in the scales of ntfy and Gotify.
enum MessageUrgency: Sendable {
  case quiet, normal, urgent

  /// The level and the sound.
  var fields: [SentMessage.Field: String] {
    switch self {
    case .quiet: [.level: InterruptionLevel.passive.rawValue]
    case .normal: [.level: InterruptionLevel.active.rawValue, .sound: "default"]
    case .urgent: [.level: InterruptionLevel.timeSensitive.rawValue, .sound: "default"]
    }
  }
}
