/// The top row: which device this is, how things stand with the gateway (A10), the silent switch, the time.
struct StatusBar {
  var model: PhoneModel

  func draw(in frame: inout Frame) {
    let clock = ClockText(timeZone: model.timeZone)
    let time = clock.time(model.now)
    var right = frame.size.columns - 1 - time.count
    frame.write(time, column: right, row: 0, style: .bold)
    if model.state.settings.isSilent {
      right -= "silent  ".count
      frame.write("silent", column: right, row: 0)
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

  /// The left half: the device's name, which may give way, and how things stand with the gateway.
  private struct Form {
    var device: String
    var words: String

    var columns: Int { 1 + (device.isEmpty ? 0 : DisplayWidth.of(device) + 2) + 2 + DisplayWidth.of(words) }
  }

  private var sign: (String, Style) {
    switch model.connection {
    case .connected: ("●", Style(foreground: Palette.green))
    case .connecting, .disconnected: ("○", .plain)
    }
  }

  /// From the longest to the shortest.
  private func forms(_ clock: ClockText) -> [Form] {
    let device = TextLayout.truncated(model.device, columns: model.size.columns / 3)
    switch model.connection {
    case .connecting: return [Form(device: device, words: "connecting …")]
    case .connected(let gateway): return [Form(device: device, words: gateway)]
    case .disconnected(let lastConnected, let retryAt):
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
