import GatewayProtocol
import PushPolicy

/// The person's shell commands for what comes (`--exec`, `--exec-for`).
struct ExecCommands: Sendable, Equatable {
  /// For pushes that have none of their own.
  var everything: String?
  /// By topic: these come before those of a level.
  var apps: [String: String] = [:]
  var levels: [InterruptionLevel: String] = [:]
  /// For the person's answer to an alert.
  var answered: String?

  /// - Parameter pairs: of `--exec-for`, each `KEY=COMMAND`, where the key is a level, `answered` or a topic.
  init(everything: String?, pairs: [String]) {
    self.everything = everything
    for (key, command) in pairs.compactMap(ExecCommands.pair) {
      if let level = InterruptionLevel(rawValue: key) {
        levels[level] = command
      } else if key == "answered" {
        answered = command
      } else {
        apps[key] = command
      }
    }
  }

  var isEmpty: Bool { everything == nil && apps.isEmpty && levels.isEmpty && answered == nil }

  func command(for push: DevicePush) -> String? { apps[push.topic] ?? levels[push.level] ?? everything }

  /// `KEY=COMMAND`; nil where one of them is missing.
  static func pair(_ text: String) -> (key: String, command: String)? {
    let parts = text.split(separator: "=", maxSplits: 1)
    return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
  }
}
