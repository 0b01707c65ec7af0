import Dispatch
import Foundation
import Glibc

/// SIGTERM, SIGINT and further signals as values, instead of the end of the process.
final class StopSignals {
  private let sources: [any DispatchSourceSignal]
  private let stream: AsyncStream<Int32>

  /// - Parameters:
  ///   - further: signals that have an effect only if they are not ignored, as SIGHUP is after `nohup`.
  ///   - output: a descriptor of a pipe or a socket: SIGHUP is the value when its reader is gone. nil for none.
  init(also further: [Int32] = [], reader output: Int32? = nil) {
    let further = further.filter { number in
      var action = sigaction()
      unsafe sigaction(number, nil, &action)
      return unsafe action.__sigaction_handler.sa_handler == nil
    }
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    self.stream = stream
    sources = ([SIGTERM, SIGINT] + further).map { number in
      // The source replaces the default action, which ends the process until then: no signal is lost between the two.
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(number) }
      source.resume()
      return source
    }
    guard let output else { return }
    Thread.detachNewThread {
      // Without requested events, only the end of the reader ends the call; a file and a device have no such end.
      var state = pollfd(fd: output, events: 0, revents: 0)
      while unsafe poll(&state, 1, -1) < 0, errno == EINTR {}
      continuation.yield(SIGHUP)
    }
  }

  /// Waits for the next signal.
  func next() async -> Int32? { await stream.first { _ in true } }
}
