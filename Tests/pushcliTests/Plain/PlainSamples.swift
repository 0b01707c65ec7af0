import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

@testable import pushcli

/// A line-based client with its clock, for its output and its effects.
struct PlainTalk {
  var plain: PlainPhone
  var now = Sample.now
  /// The effects of the last message without the effect `save`.
  var effects: [PhoneEffect] = []

  /// Creates a connected client with three apps.
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

  /// Returns the output for a message. Input refers to it only after ``settle()``.
  @discardableResult
  mutating func happensJustNow(_ message: PhoneMessage) -> String {
    effects = plain.update(message, now: now).filter { if case .save = $0 { false } else { true } }
    let output = plain.takeOutput()
    if !output.isEmpty { plain.noteShown(now: now) }
    return output
  }

  /// Returns the output for a message, and advances the clock by a second.
  @discardableResult
  mutating func happens(_ message: PhoneMessage) -> String {
    let output = happensJustNow(message)
    settle()
    return output
  }

  /// Advances the clock by a second.
  mutating func settle() {
    now += 1
    let kept = effects
    for case .awaitReadiness(let number, _) in kept { _ = plain.update(.alertReady(number), now: now) }
    if kept.contains(.awaitPause) { _ = plain.update(.paused, now: now) }
  }

  /// Returns the output for a line of input.
  @discardableResult
  mutating func type(_ line: String) -> String { happens(.input(.line(line))) }

  /// The effects that answer pushes.
  var answers: [PhoneEffect] { effects.filter { if case .answer = $0 { true } else { false } } }
}
