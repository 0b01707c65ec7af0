import Glibc

/// Waits for keys, signals and the next minute, and posts them to the inbox.
///
/// One `poll` waits for all three: the terminal, ``SignalPipe``, and the start of the next minute as its timeout.
struct EventReader<Message: Sendable>: Sendable {
  /// The time in milliseconds that the reader waits for the rest of a key sequence before an ESC counts as the Escape
  /// key.
  private static var sequenceTimeout: Int32 { 25 }

  let terminal: Terminal
  let inbox: Inbox<Message>

  /// Waits for events and posts them until ``SignalPipe/wake()`` is called. Blocks its thread.
  func run() {
    var parser = KeyParser()
    var minute = Self.minute(at: time(nil))
    var descriptors = [
      pollfd(fd: terminal.input, events: Int16(POLLIN), revents: 0),
      pollfd(fd: SignalPipe.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      let timeout = parser.isPending ? Self.sequenceTimeout : Self.millisecondsToNextMinute()
      let count = unsafe poll(&descriptors, 2, timeout)
      if count < 0 { continue }
      if count == 0 { post(parser.flush()) }
      if descriptors[1].revents != 0 {
        for byte in SignalPipe.drain() where !post(signal: byte) { return }
      }
      if descriptors[0].revents != 0, !readKeys(&parser) {
        // The terminal is gone; only the wake-up byte that ends the reader can follow.
        inbox.post(.input(.terminate))
        descriptors[0].fd = -1
        descriptors[0].revents = 0
      }
      let now = Self.minute(at: time(nil))
      if now != minute { inbox.post(.input(.tick)) }
      minute = now
    }
  }

  /// Reads and posts keys. Returns false if the terminal is gone.
  private func readKeys(_ parser: inout KeyParser) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = unsafe read(terminal.input, &bytes, bytes.count)
    if count < 0 { return errno == EINTR || errno == EAGAIN }
    post(parser.feed(bytes.prefix(count)))
    return count > 0
  }

  private func post(_ keys: [Key]) {
    for key in keys {
      switch key {
      case .redraw: inbox.post(.redraw)
      case .suspend: inbox.post(.suspend)
      case .mouse(let mouse): inbox.post(.input(.mouse(mouse)))
      case .background(let appearance): inbox.post(.input(.background(appearance)))
      case .focusIn, .focusOut: inbox.post(.input(.focus(key == .focusIn)))
      default: inbox.post(.input(.key(key)))
      }
    }
  }

  /// Posts the event of a signal. Returns false if the byte ends the reader.
  private func post(signal byte: UInt8) -> Bool {
    switch Int32(byte) {
    case Int32(SignalPipe.wakeByte): return false
    case SIGWINCH: inbox.post(.input(.resized(terminal.size)))
    case SIGTSTP: inbox.post(.suspend)
    case SIGCONT: inbox.post(.redraw)
    default: inbox.post(.input(.terminate))
    }
    return true
  }

  private static func minute(at seconds: time_t) -> Int { seconds / 60 }

  private static func millisecondsToNextMinute() -> Int32 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int32((60 - now.tv_sec % 60) * 1_000 - now.tv_nsec / 1_000_000)
  }
}
