import Foundation
import PushPolicy

/// The linear form of the phone, for screen readers, pipes and logs (L7): the same content, one paragraph per push.
enum PlainText {
  /// `push` as a paragraph with a blank line after it:
  /// ```
  /// [14:03] 📰 News · badge 3 · sound default
  /// Earthquake in Chile — Off the coast
  /// A strong earthquake has struck.
  /// Buttons: Close, View
  /// ```
  /// What the payload asked for and policy removed is said in words.
  static func paragraph(for push: PhonePush, timeZone: TimeZone = .current) -> String {
    let app = push.app.icon.isEmpty ? push.app.name : "\(push.app.icon) \(push.app.name)"
    var head = ["[\(ClockText(timeZone: timeZone).time(push.received))] \(app)"]
    if let badge = push.presentation.badge { head.append(badge == 0 ? "badge cleared" : "badge \(badge)") }
    if let sound = push.presentation.sound { head.append("sound \(sound.name)") }
    var lines = [Sanitiser.line(head.joined(separator: " · "))]

    if let alert = push.presentation.alert {
      let titles = [alert.title, alert.subtitle].filter { !$0.isEmpty }
      if !titles.isEmpty { lines.append(Sanitiser.line(titles.joined(separator: " — "))) }
      if !alert.body.isEmpty { lines.append(Sanitiser.body(alert.body)) }
      lines.append("Buttons: " + alert.buttons.map(Sanitiser.line).joined(separator: ", "))
    }
    let removed = removedParts(of: push)
    if push.presentation.isEmpty { lines.append("Nothing is presented.") }
    if !removed.isEmpty { lines.append("Removed by this person's settings: \(removed.joined(separator: ", ")).") }
    return lines.joined(separator: "\n") + "\n\n"
  }

  /// The parts that the payload asks for and the presentation lacks.
  private static func removedParts(of push: PhonePush) -> [String] {
    guard let asked = try? JSONDecoder().decode(AskedParts.self, from: Data(push.payload.utf8)) else { return [] }
    return [
      asked.badge && push.presentation.badge == nil ? "badge" : nil,
      asked.sound && push.presentation.sound == nil ? "sound" : nil,
      asked.alert && push.presentation.alert == nil ? "alert" : nil,
    ].compactMap { $0 }
  }
}

/// Which parts a payload asks for, by the keys of its `aps`.
private struct AskedParts: Decodable {
  var badge: Bool
  var sound: Bool
  var alert: Bool

  private enum RootKey: String, CodingKey { case aps }
  private enum PartKey: String, CodingKey { case badge, sound, alert }

  init(from decoder: any Decoder) throws {
    let aps = try decoder.container(keyedBy: RootKey.self).nestedContainer(keyedBy: PartKey.self, forKey: .aps)
    func asks(_ key: PartKey) throws -> Bool { try aps.contains(key) && !aps.decodeNil(forKey: key) }
    badge = try asks(.badge)
    sound = try asks(.sound)
    alert = try asks(.alert)
  }
}
