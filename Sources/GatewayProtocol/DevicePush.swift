import Foundation
import PushPolicy

/// An app that is registered on the device.
struct DeviceApp: Sendable, Equatable {
  var topic: String
  var name: String
  /// One emoji or two letters.
  var icon: String
}

/// One push as the gateway delivered it.
struct DevicePush: Sendable, Equatable {
  /// Its place in this device's mailbox; 0 for one that passes through and was never stored.
  var seq: UInt64
  var id: String
  var app: DeviceApp
  var received: Date
  /// A later push of the app with the same one replaces this; empty for none.
  var collapseID: String
  /// What groups pushes of one conversation; empty for none.
  var threadID: String
  /// What policy lets through.
  var presentation: Presentation
  /// What the sender asked for.
  var asked: [Part]
  /// How much its sender wants it to interrupt.
  var level: InterruptionLevel
  /// The gateway's own JSON.
  var line: [UInt8]

  var topic: String { app.topic }

  /// The topic of digests, which come from the gateway itself: no app of the home screen.
  static let digestTopic = "summary"

  /// What the sender sent, as JSON: the gateway puts it last, and the mark before it can't occur within a string.
  var payload: String {
    let mark = Array(#","payload":"#.utf8)
    guard let place = line.firstRange(of: mark) else { return "{}" }
    return String(decoding: line[place.upperBound...].dropLast(), as: UTF8.self)
  }

  /// The first link of the payload outside of its texts: under `url` or `link`, else the first one that there is.
  var link: String? {
    var links: [String: String] = [:]
    try? JSONParser().parse(Array(payload.utf8).span) { root in
      root.forEachMember { name, value in
        if name != "aps", let text = value.string, DevicePush.isLink(text) { links[name] = text }
      }
    }
    return links["url"] ?? links["link"] ?? links.min { $0.key < $1.key }?.value
  }

  /// Whether `text` leads to a page and holds nothing that a terminal could take for a command.
  private static func isLink(_ text: String) -> Bool {
    (text.hasPrefix("https://") || text.hasPrefix("http://")) && text.utf8.count <= 2_000
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// A headline and a detail for lists: the texts of the alert, or in words what came instead.
  var summary: (headline: String, detail: String) {
    guard let alert = presentation.listed else {
      let parts = [
        presentation.badge.map { $0 == 0 ? "Badge cleared" : "Badge \($0)" },
        presentation.sound.map { "Sound \($0.name)" },
      ].compactMap { $0 }
      return (parts.isEmpty ? "Nothing presented" : parts.joined(separator: ", "), "")
    }
    return (alert.texts.first ?? "", alert.texts.dropFirst().joined(separator: " — "))
  }

  /// What it says, in lines: the texts of the alert, or in words what came instead.
  var text: String { presentation.listed?.texts.joined(separator: "\n") ?? summary.headline }
}

extension Presentation {
  /// The parts that are presented.
  var parts: [Part] {
    Part.allCases.filter { part in
      switch part {
      case .badge: badge != nil
      case .sound: sound != nil
      case .alert: alert != nil
      }
    }
  }

  /// The texts that lists show: of the alert, or of what may not interrupt and is only listed.
  var listed: AlertPresentation? { alert ?? centre }
}

/// What a person can answer to an alert.
struct AlertChoice: Sendable, Equatable {
  var title: String
  /// What the gateway is told: `close`, `view`, `ok`, or a category's action.
  var action: String
  var isDestructive = false

  /// The action of a button that opens the action sheet; the gateway never hears of it.
  static let options = "options"
}

extension AlertPresentation {
  /// Title, subtitle and body, as far as there are any.
  var texts: [String] { [title, subtitle, body].filter { !$0.isEmpty } }

  /// Everything that can be answered, in one list: for the linear form, which has no sheets.
  var linearChoices: [AlertChoice] {
    sheetChoices.count > 1 ? [AlertChoice(title: "Close", action: "close")] + sheetChoices : choices
  }

  /// What the action sheet of the alert offers.
  var sheetChoices: [AlertChoice] {
    (actions ?? []).map { AlertChoice(title: $0.title, action: $0.id, isDestructive: $0.isDestructive) }
  }

  /// The one or two buttons of the alert, the cancelling one first (A3, A4).
  var choices: [AlertChoice] {
    if let actions, let first = actions.first, buttons.count > 1 {
      let close = AlertChoice(title: "Close", action: "close")
      if actions.count > 1 { return [close, AlertChoice(title: "Options", action: AlertChoice.options)] }
      let only = AlertChoice(title: first.title, action: first.id, isDestructive: first.isDestructive)
      return first.isDestructive ? [only, close] : [close, only]
    }
    guard buttons.count > 1 else { return [AlertChoice(title: buttons.first ?? "OK", action: "ok")] }
    return [AlertChoice(title: buttons[0], action: "close"), AlertChoice(title: buttons[1], action: "view")]
  }
}
