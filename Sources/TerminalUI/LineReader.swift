import Glibc
import Synchronization

/// Waits for lines and signals, and posts them.
struct LineReader<Message: Sendable>: Sendable {
  /// How often it looks whether it may read again, in milliseconds.
  private static var pauseInterval: Int32 { 100 }

  let terminal: Terminal
  let inbox: Inbox<Message>
  let pace: LinePace

  /// Waits and posts, until ``SignalPipe/wake()``: blocks its thread.
  ///
  /// - Returns: whether a signal asked for the end.
  func run() -> Bool {
    var splitter = LineSplitter()
    var isInterrupted = false
    var descriptors = [
      pollfd(fd: terminal.input, events: Int16(POLLIN), revents: 0),
      pollfd(fd: SignalPipe.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    var isAtEnd = false
    while true {
      // Who reads from a terminal in the background is stopped.
      let mayRead = isForeground && !pace.isFull
      descriptors[0].fd = mayRead && !isAtEnd ? terminal.input : -1
      descriptors[0].revents = 0
      if unsafe poll(&descriptors, 2, mayRead ? -1 : Self.pauseInterval) < 0 { continue }
      if descriptors[1].revents != 0 {
        for byte in SignalPipe.drain() {
          if byte == SignalPipe.wakeByte { return isInterrupted }
          if post(signal: Int32(byte)) { isInterrupted = true }
        }
      }
      if descriptors[0].revents != 0, !readLines(&splitter) {
        splitter.finish().forEach(post)
        inbox.post(.input(.terminate))
        isAtEnd = true
      }
    }
  }

  private var isForeground: Bool {
    let group = tcgetpgrp(terminal.input)
    return group < 0 || group == getpgrp()
  }

  /// Whether there may be more.
  private func readLines(_ splitter: inout LineSplitter) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe read(terminal.input, &bytes, bytes.count)
    if count < 0 { return errno == EINTR || errno == EAGAIN }
    splitter.feed(bytes.prefix(count)).forEach(post)
    return count > 0
  }

  private func post(_ line: String) {
    pace.noteTyped()
    inbox.post(.input(.line(line)))
  }

  /// Whether it asked for the end; the next that does gets it at once.
  private func post(signal: Int32) -> Bool {
    switch signal {
    case SIGWINCH: inbox.post(.input(.resized(terminal.size)))
    case SIGTSTP: SignalPipe.stopJob()
    case SIGCONT: break
    default:
      SignalPipe.uninstall()
      inbox.post(.input(.terminate))
      return true
    }
    return false
  }
}

/// How many lines wait for the loop: a file has them faster than they are done.
final class LinePace: Sendable {
  /// Beyond so many no more is read.
  static let maximumLines = 256

  private let count = Mutex(0)

  var isFull: Bool { count.withLock { $0 >= Self.maximumLines } }

  func noteTyped() { count.withLock { $0 += 1 } }

  func noteTaken() { count.withLock { $0 -= 1 } }
}

/// Makes lines of bytes.
struct LineSplitter {
  /// The longest line that is taken whole, in bytes: as long as a terminal's. Of a longer one the rest is left out.
  static let maximumSize = 4_096

  private var line: [UInt8] = []

  /// The lines that end in `bytes`, without their ends.
  mutating func feed(_ bytes: some Sequence<UInt8>) -> [String] {
    var lines: [String] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        lines.append(take())
      } else if line.count < Self.maximumSize {
        line.append(byte)
      }
    }
    return lines
  }

  /// What has no end.
  mutating func finish() -> [String] { line.isEmpty ? [] : [take()] }

  private mutating func take() -> String {
    defer { line = [] }
    return String(decoding: line, as: UTF8.self)
  }
}
