import Glibc
import Synchronization

/// Why a terminal cannot be used.
package enum TerminalError: Error, Sendable, Equatable {
  /// Standard input or output is a file or a pipe; the plain form is for those.
  case notATerminal
  /// The terminal refused raw mode, with the C error.
  case refused(errno: Int32)
}

/// The terminal on two descriptors: raw mode, alternate screen, size, output.
///
/// At most one is entered at a time in a process. It is given back by ``leave()``, and by ``TerminalGuard`` when the
/// process ends before that.
package final class Terminal: Sendable {
  package let input: Int32
  package let output: Int32
  /// Whether colors are wanted: `NO_COLOR` is unset or empty (no-color.org).
  package let usesColor: Bool
  /// Whether it is asked what its background is like.
  private let asksBackground: Bool
  private let isEntered = Mutex(false)
  private let isMouseWanted = Mutex(false)

  /// - Parameter asksBackground: Whether it is asked what its background is like, each time that it is taken; the answer
  ///   comes among the keys, and no answer is waited for.
  package init(
    input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO, usesColor: Bool = Terminal.isColorWanted,
    asksBackground: Bool = false
  ) {
    self.input = input
    self.output = output
    self.usesColor = usesColor
    self.asksBackground = asksBackground
  }

  deinit {
    leave()
  }

  /// Whether the environment wants colors.
  package static var isColorWanted: Bool {
    guard let value = unsafe getenv("NO_COLOR") else { return true }
    return unsafe value.pointee == 0
  }

  /// Whether both ends are a terminal.
  package var isInteractive: Bool { isatty(input) == 1 && isatty(output) == 1 }

  /// Takes the terminal: raw mode, alternate screen, no cursor, no wrapping at the right edge, marked pastes, word of
  /// the focus.
  package func enter() throws(TerminalError) {
    guard isInteractive else { throw .notATerminal }
    var attributes = termios()
    guard unsafe tcgetattr(input, &attributes) == 0 else { throw .refused(errno: errno) }
    if attributes.isRaw { attributes.makeSane() }
    TerminalGuard.hold(input: input, output: output, original: attributes)
    unsafe cfmakeraw(&attributes)
    guard unsafe tcsetattr(input, TCSANOW, &attributes) == 0 else {
      let error = errno
      TerminalGuard.release()
      throw .refused(errno: error)
    }
    isEntered.withLock { $0 = true }
    write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h\u{1B}[?7l\u{1B}[?1004h")
    if isMouseWanted.withLock({ $0 }) { write(Terminal.mouseSequence(true)) }
    if asksBackground { write("\u{1B}]11;?\u{1B}\\") }
  }

  /// Presses and the wheel (mode 1000), in a form that has no largest column (mode 1006).
  private static func mouseSequence(_ isOn: Bool) -> String {
    isOn ? "\u{1B}[?1000h\u{1B}[?1006h" : "\u{1B}[?1006l\u{1B}[?1000l"
  }

  /// Takes the mouse from now on, or gives it back to the terminal, which selects text with it.
  package func takeMouse(_ isTaken: Bool) {
    isMouseWanted.withLock { $0 = isTaken }
    if isEntered.withLock({ $0 }) { write(Terminal.mouseSequence(isTaken)) }
  }

  /// Gives the terminal back as it was; does nothing when it is not taken.
  package func leave() {
    let wasEntered = isEntered.withLock { entered in
      defer { entered = false }
      return entered
    }
    if wasEntered { TerminalGuard.release() }
  }

  /// The largest screen that is drawn on: more than any has, and frames of this size fit into memory.
  private static let maximumSize = Size(columns: 1_000, rows: 500)

  /// Columns and rows now (TIOCGWINSZ), as far as they are drawn on; 80×24 when the terminal does not know.
  package var size: Size {
    var window = winsize()
    guard unsafe ioctl(output, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
      return Size(columns: 80, rows: 24)
    }
    return Size(
      columns: min(Int(window.ws_col), Self.maximumSize.columns), rows: min(Int(window.ws_row), Self.maximumSize.rows))
  }

  /// Writes all of `text`. A terminal that is gone is noticed by who reads from it.
  package func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var written = 0
      while written < bytes.count {
        let count = unsafe Glibc.write(output, bytes.baseAddress! + written, bytes.count - written)
        if count >= 0 {
          written += count
        } else if errno == EAGAIN {
          var descriptor = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
          _ = unsafe poll(&descriptor, 1, -1)
        } else if errno != EINTR {
          return
        }
      }
    }
  }

  /// Rings the bell (BEL).
  package func ring() {
    write("\u{07}")
  }
}

extension termios {
  /// Whether a program has left it raw: one that was killed, and a shell that did not mend it.
  fileprivate var isRaw: Bool { c_lflag & tcflag_t(ICANON) == 0 && c_lflag & tcflag_t(ECHO) == 0 }

  /// What `stty sane` sets of what raw mode takes away.
  fileprivate mutating func makeSane() {
    c_lflag |= tcflag_t(ICANON | ECHO | ECHOE | ECHOK | ISIG | IEXTEN)
    c_iflag |= tcflag_t(BRKINT | ICRNL | IXON)
    c_oflag |= tcflag_t(OPOST | ONLCR)
  }
}
