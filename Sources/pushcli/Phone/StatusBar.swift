import Foundation
import PushPolicy
import TerminalUI

/// The top row: the device's name, the state of the connection to the gateway (A10), the silent switch, and the time.
struct StatusBar {
  var model: PhoneModel

  func draw(in frame: inout Frame) {
    let clock = ClockText(timeZone: model.timeZone)
    let time = clock.time(model.now)
    var right = frame.size.columns - 1 - time.count
    frame.write(time, column: right, row: 0, style: .bold)
    for word in circumstances {
      right -= DisplayWidth.of(word) + 2
      frame.write(word, column: right, row: 0)
    }

    let (sign, style) = sign
    let forms = forms(clock)
    let room = right - 2
    let form = forms.first { $0.columns <= room } ?? forms[forms.count - 1]
    var column = 1
    if !form.device.isEmpty { column = frame.write(form.device, column: column, row: 0, style: .bold) + 2 }
    column = frame.write(sign, column: column, row: 0, style: style) + 1
    frame.write(TextLayout.truncated(form.words, columns: right - column - 1), column: column, row: 0, style: .dim)
  }

  /// The reasons why pushes are silent or hidden now, as far as they fit.
  private var circumstances: [String] {
    let words = model.circumstances.map { TextLayout.truncated($0, columns: 12) }
    return model.size.columns < 60 ? Array(words.prefix(1)) : words
  }

  /// The left half: the device's name, which may be omitted, and the state of the connection.
  private struct Form {
    var device: String
    var words: String

    var columns: Int { 1 + (device.isEmpty ? 0 : DisplayWidth.of(device) + 2) + 2 + DisplayWidth.of(words) }
  }

  private var sign: (String, Style) {
    guard !model.isBusy else { return (model.form.turning[model.activityPhase % model.form.turning.count], .bold) }
    return switch model.connection {
    case .connected: ("●", Style(foreground: model.palette.green))
    case .connecting, .disconnected, .refused: ("○", .plain)
    }
  }

  /// The operation in progress.
  private var activity: String? {
    let words: [(PhoneActivity, String)] = [
      (.sending, "sending …"), (.saving, "saving …"), (.reporting, "reporting …"),
    ]
    return words.first { model.activities.contains($0.0) }?.1
  }

  /// Returns the forms of the left half, from the longest to the shortest.
  private func forms(_ clock: ClockText) -> [Form] {
    let device = TextLayout.truncated(model.device, columns: model.size.columns / 3)
    if let activity { return [Form(device: device, words: activity), Form(device: "", words: activity)] }
    switch model.connection {
    case .connecting: return [Form(device: device, words: "connecting …")]
    case .connected(let gateway): return [Form(device: device, words: gateway)]
    case .refused:
      return [
        Form(device: device, words: "this device was removed or has another secret"),
        Form(device: device, words: "device unknown"), Form(device: "", words: "device unknown"),
      ]
    case .disconnected(let lastConnected, let retryAt, _):
      let moment = lastConnected.map { clock.moment($0, now: model.now) }
      let words = moment.map { "last connected at \($0)" } ?? "not connected yet"
      return [
        Form(device: device, words: "\(words) · next try at \(clock.timeWithSeconds(retryAt))"),
        Form(device: device, words: words), Form(device: "", words: words),
        Form(device: "", words: moment.map { "last at \($0)" } ?? words),
      ]
    }
  }
}

extension PhoneModel {
  /// The reasons why pushes are silent or hidden now, the last one of the status bar first.
  var circumstances: [String] {
    let zone = timeZone
    let moment = ZonedTime(seconds: Int64(now.timeIntervalSince1970)) { name, seconds in
      (name.flatMap { TimeZone(identifier: $0) } ?? zone)
        .secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    }
    var words: [String] = []
    if state.settings.isSilent { words.append("silent") }
    if state.preferences.quietHours.contains(where: { $0.contains(moment) }) { words.append("quiet hours") }
    if !state.settings.focus.isEmpty { words.append(state.settings.focus) }
    return words
  }
}
