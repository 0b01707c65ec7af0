import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

@testable import pushcli

/// A phone in lines, and its clock: what happens, what is said, what is wanted done.
struct PlainTalk {
  var plain: PlainPhone
  var now = Sample.now
  /// Of the last that happened, without what is stored.
  var effects: [PhoneEffect] = []

  /// A connected phone with three apps.
  init(_ messages: [PhoneMessage] = []) {
    var phone = PhoneModel(device: "studio")
    phone.timeZone = TimeZone(secondsFromGMT: 0)!
    phone.form = .full
    plain = PlainPhone(phone)
    plain.greet(now: now)
    let start: [PhoneMessage] = [
      .apps([Sample.news, Sample.mail, Sample.album]), .connection(.connected(gateway: "localhost:2197")),
    ]
    for message in start + messages { happens(message) }
  }

  /// What is said when something happens; keys count for what it shows only after ``settle()``.
  @discardableResult
  mutating func happensJustNow(_ message: PhoneMessage) -> String {
    effects = plain.update(message, now: now).filter { if case .save = $0 { false } else { true } }
    let output = plain.takeOutput()
    if !output.isEmpty { plain.noteShown(now: now) }
    return output
  }

  /// What is said when something happens, and a second passes.
  @discardableResult
  mutating func happens(_ message: PhoneMessage) -> String {
    let output = happensJustNow(message)
    settle()
    return output
  }

  /// A second passes.
  mutating func settle() {
    now += 1
    let kept = effects
    for case .awaitReadiness(let number, _) in kept { _ = plain.update(.alertReady(number), now: now) }
    if kept.contains(.awaitPause) { _ = plain.update(.paused, now: now) }
  }

  /// What is said to a line.
  @discardableResult
  mutating func type(_ line: String) -> String { happens(.input(.line(line))) }

  /// What is done with pushes, without the rest.
  var answers: [PhoneEffect] { effects.filter { if case .answer = $0 { true } else { false } } }
}
