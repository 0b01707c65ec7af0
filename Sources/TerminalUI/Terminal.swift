import Glibc
import Synchronization

/// The reason for which a terminal cannot be used.
package enum TerminalError: Error, Sendable, Equatable {
  /// Standard input or output is a file or a pipe, for which the line-based client is intended.
  case notATerminal
  /// The terminal refused raw mode, with the C error.
  case refused(errno: Int32)
}

/// The terminal on two file descriptors: raw mode, alternate screen, size, output.
///
/// A process can use at most one terminal at a time. ``leave()`` restores it, and ``TerminalGuard`` restores it if
/// the process ends earlier.
package final class Terminal: Sendable {
  package let input: Int32
  package let output: Int32
  /// True if colors are enabled: `NO_COLOR` is unset or empty (no-color.org).
  package let usesColor: Bool
  /// True if the terminal is queried for its background color.
  private let asksBackground: Bool
  private let isEntered = Mutex(false)
  private let isMouseRequested = Mutex(false)

  /// - Parameter asksBackground: True to query the background color each time that ``enter()`` is called. The answer
  ///   arrives among the keys, and ``enter()`` does not wait for it.
  package init(
    input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO, usesColor: Bool = Terminal.isColorRequested,
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

  /// True if the environment allows colors.
  package static var isColorRequested: Bool {
    guard let value = unsafe getenv("NO_COLOR") else { return true }
    return unsafe value.pointee == 0
  }

  /// True if both descriptors are terminals.
  package var isInteractive: Bool { isatty(input) == 1 && isatty(output) == 1 }

  /// Sets up the terminal: raw mode, alternate screen, hidden cursor, no wrapping at the right edge, bracketed paste,
  /// focus events.
  ///
  /// - Throws: ``TerminalError`` if the descriptors are not a terminal or the terminal refuses raw mode.
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
    if isMouseRequested.withLock({ $0 }) { write(Terminal.mouseSequence(true)) }
    if asksBackground { write("\u{1B}]11;?\u{1B}\\") }
  }

  /// Returns the sequence for presses and the wheel (mode 1000), in a format without a column limit (mode 1006).
  private static func mouseSequence(_ isOn: Bool) -> String {
    isOn ? "\u{1B}[?1000h\u{1B}[?1006h" : "\u{1B}[?1006l\u{1B}[?1000l"
  }

  /// Enables mouse events, or disables them so that the terminal can select text with the mouse.
  package func takeMouse(_ isTaken: Bool) {
    isMouseRequested.withLock { $0 = isTaken }
    if isEntered.withLock({ $0 }) { write(Terminal.mouseSequence(isTaken)) }
  }

  /// Restores the previous state of the terminal; does nothing if ``enter()`` was not called.
  package func leave() {
    let wasEntered = isEntered.withLock { entered in
      defer { entered = false }
      return entered
    }
    if wasEntered { TerminalGuard.release() }
  }

  /// The maximum size of a drawn screen: larger than real screens, and frames of this size fit into memory.
  private static let maximumSize = Size(columns: 1_000, rows: 500)

  /// The current columns and rows (TIOCGWINSZ), limited to the maximum size; 80×24 if the terminal does not report
  /// them.
  package var size: Size {
    var window = winsize()
    guard unsafe ioctl(output, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
      return Size(columns: 80, rows: 24)
    }
    return Size(
      columns: min(Int(window.ws_col), Self.maximumSize.columns), rows: min(Int(window.ws_row), Self.maximumSize.rows))
  }

  /// Writes all of `text`. Errors are ignored: the task that reads from the terminal detects a lost terminal.
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
  /// True if an earlier program left the terminal in raw mode: it was killed, and the shell did not repair the modes.
  fileprivate var isRaw: Bool { c_lflag & tcflag_t(ICANON) == 0 && c_lflag & tcflag_t(ECHO) == 0 }

  /// Restores the modes of `stty sane` that raw mode clears.
  fileprivate mutating func makeSane() {
    c_lflag |= tcflag_t(ICANON | ECHO | ECHOE | ECHOK | ISIG | IEXTEN)
    c_iflag |= tcflag_t(BRKINT | ICRNL | IXON)
    c_oflag |= tcflag_t(OPOST | ONLCR)
  }
}
