import Foundation
import PushPolicy

@testable import pushcli

/// Apps, pushes and a clock to make tests from.
enum Sample {
  /// Friday, 14 November 2025, 14:05 UTC.
  static let now = Date(timeIntervalSince1970: 1_763_129_100)

  static let news = PhoneApp(topic: "com.example.news", name: "News", icon: "📰")
  static let mail = PhoneApp(topic: "com.example.mail", name: "Mail", icon: "ML")
  static let album = PhoneApp(topic: "com.example.album", name: "Family Album", icon: "👨‍👩‍👧")

  static let earthquake = AlertPresentation(
    title: "Earthquake in Chile",
    subtitle: "Off the coast",
    body: "A strong earthquake has struck off the coast of northern Chile. Tsunami warnings are in force."
  )
  static let dinner = AlertPresentation(title: "Dinner at Eight?", body: "", buttons: ["Close", "Reply"])
  static let done = AlertPresentation(title: "Backup Finished", body: "", buttons: ["OK"])

  /// A push two minutes ago; its id is `push-` and its `seq`.
  static func push(
    _ seq: UInt64,
    _ app: PhoneApp = news,
    badge: Int? = nil,
    sound: String? = nil,
    alert: AlertPresentation? = nil,
    payload: String = "{\"aps\":{}}"
  ) -> PhonePush {
    PhonePush(
      seq: seq,
      id: "push-\(seq)",
      topic: app.topic,
      app: app,
      received: now - 120,
      presentation: Presentation(badge: badge, sound: sound.map { SoundPresentation(name: $0) }, alert: alert),
      payload: payload
    )
  }

  /// A connected phone with three apps after `messages`, which happen now.
  static func phone(size: Size = Size(columns: 80, rows: 24), _ messages: [PhoneMessage] = []) -> PhoneModel {
    var phone = PhoneModel(device: "studio")
    phone.timeZone = TimeZone(secondsFromGMT: 0)!
    let start: [PhoneMessage] = [
      .resized(size), .apps([news, mail, album]), .connection(.connected(gateway: "localhost:2197")),
    ]
    for message in start + messages { phone.happens(message) }
    return phone
  }
}

extension PhoneModel {
  /// ``update(_:now:)`` at ``Sample/now``.
  @discardableResult
  mutating func happens(_ message: PhoneMessage) -> [PhoneEffect] {
    update(message, now: Sample.now)
  }

  @discardableResult
  mutating func press(_ key: Key) -> [PhoneEffect] {
    happens(.key(key))
  }

  @discardableResult
  mutating func press(_ key: Character) -> [PhoneEffect] {
    happens(.key(.character(key)))
  }
}
