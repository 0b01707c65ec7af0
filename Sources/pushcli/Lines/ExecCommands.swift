import GatewayProtocol
import PushPolicy

/// The user's shell commands for pushes and answers (`--exec`, `--exec-for`).
struct ExecCommands: Sendable, Equatable {
  /// The command for pushes without a command of their own.
  var everything: String?
  /// The commands by topic, which take precedence over the commands by level.
  var apps: [String: String] = [:]
  var levels: [InterruptionLevel: String] = [:]
  /// The command for the user's answer to an alert.
  var answered: String?
  /// The command for a push that the device has to remove from its screen.
  var retracted: String?

  /// - Parameter pairs: the values of `--exec-for`, each `KEY=COMMAND`, where the key is a level, `answered`,
  ///   `retracted` or a topic.
  init(everything: String?, pairs: [String]) {
    self.everything = everything
    for (key, command) in pairs.compactMap(ExecCommands.pair) {
      if let level = InterruptionLevel(rawValue: key) {
        levels[level] = command
      } else if key == "answered" {
        answered = command
      } else if key == "retracted" {
        retracted = command
      } else {
        apps[key] = command
      }
    }
  }

  var isEmpty: Bool {
    everything == nil && apps.isEmpty && levels.isEmpty && answered == nil && retracted == nil
  }

  func command(for push: DevicePush) -> String? { apps[push.topic] ?? levels[push.level] ?? everything }

  /// Splits `KEY=COMMAND`; nil if one of the two is missing.
  static func pair(_ text: String) -> (key: String, command: String)? {
    let parts = text.split(separator: "=", maxSplits: 1)
    return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
  }
}
