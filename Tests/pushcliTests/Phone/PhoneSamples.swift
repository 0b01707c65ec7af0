import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

@testable import pushcli

/// Apps, pushes and a clock for tests.
enum Sample {
  /// Friday, November 14, 2025, 14:05 UTC.
  static let now = Date(timeIntervalSince1970: 1_763_129_100)

  static let news = DeviceApp(topic: "com.example.news", name: "News", icon: "📰")
  static let mail = DeviceApp(topic: "com.example.mail", name: "Mail", icon: "ML")
  static let album = DeviceApp(topic: "com.example.album", name: "Family Album", icon: "👨‍👩‍👧")

  static let earthquake = AlertPresentation(
    title: "Earthquake in Chile",
    subtitle: "Off the coast",
    body: "A strong earthquake has struck off the coast of northern Chile. Tsunami warnings are in force."
  )
  static let dinner = AlertPresentation(title: "Dinner at Eight?", body: "", buttons: ["Close", "Reply"])
  /// An alert with three actions.
  static let deploy: AlertPresentation = {
    var alert = AlertPresentation(title: "Deploy to Production?", body: "Build 4711 has passed its tests.")
    alert.offer([
      AlertAction(id: "approve", title: "Approve"), AlertAction(id: "later", title: "In an Hour"),
      AlertAction(id: "reject", title: "Reject", isDestructive: true),
    ])
    return alert
  }()
  static let done = AlertPresentation(title: "Backup Finished", body: "", buttons: ["OK"])

  /// Returns a push of two minutes ago, read from its line. Its id is `push-` and its `seq`.
  static func push(
    _ seq: UInt64,
    _ app: DeviceApp = news,
    badge: Int? = nil,
    sound: String? = nil,
    alert: AlertPresentation? = nil,
    thread: String? = nil,
    collapse: String? = nil,
    payload: String? = nil
  ) -> DevicePush {
    func json(_ text: String) -> String {
      var bytes: [UInt8] = []
      appendJSONString(text, to: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    var presentation: [UInt8] = []
    Presentation(badge: badge, sound: sound, alert: alert)
      .appendJSON(to: &presentation)
    let collapse = collapse.map { ",\"collapse\":\(json($0))" } ?? ""
    let thread = thread.map { "\"thread-id\":\(json($0))" } ?? ""
    let line = """
      {"type":"push","seq":\(seq),"id":"push-\(seq)","topic":\(json(app.topic)),\
      "app":{"name":\(json(app.name)),"icon":\(json(app.icon))},"received":"2025-11-14T14:03:00.000Z"\(collapse),\
      "presentation":\(String(decoding: presentation, as: UTF8.self)),"payload":\(payload ?? "{\"aps\":{\(thread)}}")}
      """
    guard let push = DevicePush(line: Array(line.utf8), parser: JSONParser()) else { fatalError("no push: \(line)") }
    return push
  }

  /// Returns a connected phone with three apps after `messages`, all at ``Sample/now``.
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
  /// Calls ``update(_:now:)`` at ``Sample/now``, and marks a new alert as seen.
  @discardableResult
  mutating func happens(_ message: PhoneMessage) -> [PhoneEffect] {
    let effects = update(message, now: Sample.now)
    for case .awaitReadiness(let number, _) in effects { _ = update(.alertReady(number), now: Sample.now) }
    return effects.filter { if case .awaitReadiness = $0 { false } else { true } }
  }

  /// Returns the effects of a message without the effect `save`.
  @discardableResult
  mutating func effects(_ message: PhoneMessage) -> [PhoneEffect] {
    happens(message).filter { if case .save = $0 { false } else { true } }
  }

  @discardableResult
  mutating func press(_ key: Key) -> [PhoneEffect] {
    effects(.key(key))
  }

  @discardableResult
  mutating func press(_ key: Character) -> [PhoneEffect] {
    effects(.key(.character(key)))
  }
}

extension PhoneMessage {
  static func key(_ key: Key) -> PhoneMessage { .input(.key(key)) }
  static func resized(_ size: Size) -> PhoneMessage { .input(.resized(size)) }
  static func focus(_ hasFocus: Bool) -> PhoneMessage { .input(.focus(hasFocus)) }
  static let terminate = PhoneMessage.input(.terminate)
}
