import Glibc

/// Forwards the output of a command unchanged as it arrives, and keeps its last lines.
struct ChildOutput {
  /// Streams of the command that share a pipe, and the descriptor that receives their bytes.
  struct Route: Equatable {
    var streams: [Int32]
    var target: Int32
  }

  /// The selection of the streams that are read.
  enum Mode: String, CaseIterable {
    /// Streams that are not a terminal. On a terminal, a command would lose colors, width and keys.
    case auto
    case always
    case none
  }

  private let routes: [Route]
  /// The read ends of the pipes, by route; nil if closed.
  private var reading: [Int32?] = []
  /// The write ends, for the command.
  private var writing: [Int32] = []
  private(set) var tail = OutputTail()
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  /// - Throws: ``CommandFailure`` if no pipe can be made.
  init(_ routes: [Route]) throws(CommandFailure) {
    self.routes = routes
    for _ in routes {
      let pipe = try ChildOutput.pipe()
      reading.append(pipe.reading)
      writing.append(pipe.writing)
    }
  }

  /// Returns the routes of this process's own output and errors. If both have the same target, one pipe serves both and
  /// keeps their order.
  static func routes(_ choice: Mode) -> [Route] {
    let streams = [STDOUT_FILENO, STDERR_FILENO].filter { stream in
      switch choice {
      case .auto: isatty(stream) == 0
      case .always: true
      case .none: false
      }
    }
    guard streams.count == 2, isSame(streams[0], streams[1]) else {
      return streams.map { Route(streams: [$0], target: $0) }
    }
    return [Route(streams: streams, target: streams[0])]
  }

  private static func isSame(_ one: Int32, _ other: Int32) -> Bool {
    var (first, second) = (stat(), stat())
    guard unsafe fstat(one, &first) == 0, unsafe fstat(other, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// Makes a pipe that no command inherits.
  static func pipe() throws(CommandFailure) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&ends) == 0 else {
      throw CommandFailure(.failed, "there can be no pipe: \(unsafe String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// The descriptors for the command, by stream.
  var descriptors: [(stream: Int32, descriptor: Int32)] {
    zip(routes, writing).flatMap { route, descriptor in route.streams.map { ($0, descriptor) } }
  }

  /// Closes the write ends in this process, after the command has started with its own copies.
  mutating func closeWriting() {
    for descriptor in writing { close(descriptor) }
    writing = []
  }

  /// Closes all open descriptors.
  mutating func end() {
    closeWriting()
    for index in reading.indices { closeReading(index) }
  }

  private mutating func closeReading(_ index: Int) {
    if let descriptor = reading[index] { close(descriptor) }
    reading[index] = nil
  }

  /// Forwards the output until the command has ended and no process has its output open.
  ///
  /// A background process of the command can keep the output open. It has `grace` to end, as `tee` in a script does;
  /// then the bytes left in the pipe are forwarded and the call returns.
  ///
  /// - Parameters:
  ///   - end: a descriptor that becomes readable when the command has ended.
  ///   - ended: is called at that time.
  mutating func pass(until end: Int32, grace: Duration, ended: () -> Void) {
    var deadline: ContinuousClock.Instant?
    while deadline == nil || reading.contains(where: { $0 != nil }) {
      let left = deadline.map { ContinuousClock.now.duration(to: $0) }
      if let left, left <= .zero { break }
      var polled = [pollfd(fd: deadline == nil ? end : -1, events: Int16(POLLIN), revents: 0)]
      // poll(2) ignores a negative descriptor.
      polled += reading.map { pollfd(fd: $0 ?? -1, events: Int16(POLLIN), revents: 0) }
      // Rounded up: otherwise the loop would poll without a wait during the last millisecond.
      let milliseconds = left.map { Int32(min($0 / .milliseconds(1), 60_000)) + 1 } ?? -1
      guard unsafe poll(&polled, nfds_t(polled.count), milliseconds) >= 0 else {
        precondition(errno == EINTR, "descriptors that are open can be waited for")
        continue
      }
      for index in reading.indices where polled[index + 1].revents != 0 { pass(index) }
      if polled[0].revents != 0 {
        ended()
        deadline = .now + grace
      }
    }
    for index in reading.indices where reading[index].map(isReadable) == true { pass(index) }
  }

  private func isReadable(_ descriptor: Int32) -> Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&polled, 1, 0) == 1
  }

  /// Forwards the bytes of a pipe, at most one buffer. If they can't be written, the pipe is closed, so that the
  /// command receives the same error.
  private mutating func pass(_ index: Int) {
    guard let descriptor = reading[index] else { return }
    let count = unsafe read(descriptor, &buffer, buffer.count)
    if count < 0, errno == EINTR { return }
    guard count > 0 else { return closeReading(index) }
    let bytes = buffer[..<count]
    tail.append(bytes, of: routes[index].streams[0])
    if Output.pass(bytes, to: routes[index].target) != nil { closeReading(index) }
  }

  /// The pipes that are still open, and their targets.
  var open: [(descriptor: Int32, target: Int32)] {
    zip(reading, routes).compactMap { descriptor, route in descriptor.map { ($0, route.target) } }
  }
}
