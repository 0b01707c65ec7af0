import Foundation
import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

/// The linear form of the phone, for screen readers, pipes and logs (L7): the same content, one paragraph per push.
enum PlainText {
  /// Returns `push` as a paragraph with a blank line after it:
  /// ```
  /// [14:03] 📰 News · quakes · badge 3 · sound default
  /// Earthquake in Chile — Off the coast
  /// A strong earthquake has struck.
  /// Link: https://example.com/quake
  /// Buttons: Close, View
  /// ```
  /// The parts that the payload requests and that policy removed are named in words.
  ///
  /// - Parameter hasButtons: True to include the possible answers; false if a question with them follows.
  static func paragraph(for push: DevicePush, timeZone: TimeZone = .current, hasButtons: Bool = true) -> String {
    let app = push.app.icon.isEmpty ? push.app.name : "\(push.app.icon) \(push.app.name)"
    var head = ["[\(ClockText(timeZone: timeZone).time(push.received))] \(app)"]
    if !push.threadID.isEmpty { head.append(push.threadID) }
    if let badge = push.presentation.badge { head.append(badge == 0 ? "badge cleared" : "badge \(badge)") }
    if let sound = push.presentation.sound { head.append("sound \(sound)") }
    if push.level != .active { head.append(push.level.rawValue) }
    var lines = [Sanitizer.line(head.joined(separator: " · "))]

    if let alert = push.presentation.listed {
      let titles = [alert.title, alert.subtitle].filter { !$0.isEmpty }
      if !titles.isEmpty { lines.append(Sanitizer.line(titles.joined(separator: " — "))) }
      if !alert.body.isEmpty { lines.append(Sanitizer.body(alert.body)) }
      if let link = push.link { lines.append("Link: \(link)") }
      if let attachment = push.attachment {
        lines.append(attachment.words + (hasButtons ? ", pushcli attachment \(attachment.id)" : ""))
      }
      if push.presentation.alert != nil {
        if hasButtons {
          lines.append("Buttons: " + alert.linearChoices.map { Sanitizer.line($0.title) }.joined(separator: ", "))
        }
      } else {
        lines.append(
          "In the notification center" + (push.presentation.held == nil ? "." : ", and in the next summary."))
      }
    }
    let removed = removedParts(of: push)
    if push.presentation.isEmpty { lines.append("Nothing is presented.") }
    if !removed.isEmpty { lines.append("Removed by this user's settings: \(removed.joined(separator: ", ")).") }
    return lines.joined(separator: "\n") + "\n\n"
  }

  /// Returns the parts that the payload requests and the presentation lacks.
  private static func removedParts(of push: DevicePush) -> [String] {
    push.asked.filter { !push.presentation.parts.contains($0) }.map(\.rawValue)
  }

  /// Returns the numbered question after an alert's paragraph; the first answer dismisses.
  static func question(for push: DevicePush) -> String {
    let choices = push.presentation.alert?.linearChoices ?? []
    let words = choices.enumerated().map { "\($0 + 1) \(Sanitizer.line($1.title))" }.joined(separator: "  ")
    return "\(Sanitizer.line(push.app.name)), \(Sanitizer.line(push.summary.headline)): \(words)? "
  }

  /// The reply to a line that was typed before the alert could be read.
  static let tooSoon = "that has only just appeared: read it, then say it again"
}
