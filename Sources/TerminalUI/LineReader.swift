import Glibc
import Synchronization

/// Waits for lines and signals, and posts them to the inbox.
struct LineReader<Message: Sendable>: Sendable {
  /// The interval in milliseconds at which the reader checks whether it may read again.
  private static var pauseInterval: Int32 { 100 }

  let terminal: Terminal
  let inbox: Inbox<Message>
  let pace: LinePace

  /// Waits for events and posts them until ``SignalPipe/wake()`` is called. Blocks its thread.
  ///
  /// - Returns: True if a signal requested the end.
  func run() -> Bool {
    var splitter = LineSplitter()
    var isInterrupted = false
    var descriptors = [
      pollfd(fd: terminal.input, events: Int16(POLLIN), revents: 0),
      pollfd(fd: SignalPipe.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    var isAtEnd = false
    while true {
      // The kernel stops a background process that reads from its terminal.
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

  /// Reads and posts lines. Returns false at the end of the input.
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

  /// Handles a signal. Returns true if it requests the end; a second such signal then ends the process at once.
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

/// Counts the lines that are queued for the loop, because a file supplies lines faster than the loop processes them.
final class LinePace: Sendable {
  /// The number of queued lines from which on the reader pauses.
  static let maximumLines = 256

  private let count = Mutex(0)

  var isFull: Bool { count.withLock { $0 >= Self.maximumLines } }

  func noteTyped() { count.withLock { $0 += 1 } }

  func noteTaken() { count.withLock { $0 -= 1 } }
}

/// Splits bytes into lines.
struct LineSplitter {
  /// The maximum size of a line in bytes, as in a terminal. The rest of a longer line is dropped.
  static let maximumSize = 4_096

  private var line: [UInt8] = []

  /// Returns the lines that end in `bytes`, without their line ends.
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

  /// Returns the last line if it has no line end.
  mutating func finish() -> [String] { line.isEmpty ? [] : [take()] }

  private mutating func take() -> String {
    defer { line = [] }
    return String(decoding: line, as: UTF8.self)
  }
}
