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
    let device = TextLayout.truncated(model.device, columns: frame.size.columns / 3)
    var column = frame.write(device, column: 1, row: 0, style: .bold) + 2
    column = frame.write(sign, column: column, row: 0, style: style) + 1
    var words = words(clock)
    // The second half is told when there is room for all of it.
    if words.count == 2, column + DisplayWidth.of(words.joined()) >= right { words.removeLast() }
    let text = TextLayout.truncated(words.joined(), columns: right - column - 1)
    frame.write(text, column: column, row: 0, style: .dim)
  }

  private var sign: (String, Style) {
    switch model.connection {
    case .connected: ("●", Style(foreground: Palette.green))
    case .connecting, .disconnected: ("○", .plain)
    }
  }

  private func words(_ clock: ClockText) -> [String] {
    switch model.connection {
    case .connecting: return ["connecting …"]
    case .connected(let gateway): return [gateway]
    case .disconnected(let lastConnected, let retryAt):
      let first = lastConnected.map { "last connected at \(clock.moment($0, now: model.now))" } ?? "not connected yet"
      return [first, " · next try at \(clock.timeWithSeconds(retryAt))"]
    }
  }
}
