import Dispatch
import Glibc

/// What a service is asked for by signals, and otherwise, one after the other.
final class ServiceRequests {
  enum Request: Sendable {
    /// To end in good order: SIGTERM, SIGINT.
    case stop
    /// To read its settings again: SIGHUP.
    case reload
    /// To see whether the program that is in its place now could start, and then make way for it: SIGUSR2.
    case restart
    /// To make way for it; that was seen to.
    case replace
  }

  static let signals: [(number: Int32, request: Request)] = [
    (SIGTERM, .stop), (SIGINT, .stop), (SIGHUP, .reload), (SIGUSR2, .restart),
  ]

  /// To be read by one.
  let stream: AsyncStream<Request>
  /// Takes what is asked for otherwise, on any thread.
  let continuation: AsyncStream<Request>.Continuation
  private let sources: [any DispatchSourceSignal]

  /// From here on these signals do not end the process.
  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Request.self, bufferingPolicy: .bufferingOldest(100))
    (self.stream, self.continuation) = (stream, continuation)
    sources = ServiceRequests.signals.map { number, request in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(request) }
      source.resume()
      return source
    }
  }
}
