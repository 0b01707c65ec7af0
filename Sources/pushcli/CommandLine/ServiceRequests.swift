import Dispatch
import Glibc
import Synchronization

/// The requests to a service, by signals and by other sources, in order of arrival.
final class ServiceRequests {
  enum Request: Equatable, Sendable {
    /// Ends the service in good order: SIGTERM, SIGINT.
    case stop
    /// Reads the settings again: SIGHUP.
    case reload
    /// Verifies that the installed program can start, and then replaces the service with it: SIGUSR2.
    case restart
    /// Replaces the service with the installed program, which was verified before.
    case replace
  }

  static let signals: [(number: Int32, request: Request)] = [
    (SIGTERM, .stop), (SIGINT, .stop), (SIGHUP, .reload), (SIGUSR2, .restart),
  ]

  /// The requests, for one reader.
  let stream: AsyncStream<Request>
  /// Accepts requests of other sources, on any thread.
  let continuation: AsyncStream<Request>.Continuation
  private let sources: [any DispatchSourceSignal]
  private let end = End()

  /// The state of the service's end, shared with the threads of signals.
  private final class End: Sendable {
    let isInGoodOrder = Atomic<Bool>(false)
    let isAsked = Atomic<Bool>(false)
  }

  /// Makes these signals requests; from now on they do not end the process.
  ///
  /// - Parameter giveUp: ends the process, on any thread, on a request to stop before ``endInGoodOrder`` is called. A
  ///   start can wait a minute for other processes; an end at that time leaves nothing that prevents the next start.
  init(giveUp: @escaping @Sendable () -> Never) {
    let (stream, continuation) = AsyncStream.makeStream(of: Request.self, bufferingPolicy: .bufferingOldest(100))
    (self.stream, self.continuation) = (stream, continuation)
    sources = ServiceRequests.signals.map { [end] number, request in
      // The source replaces the action. Until then only a request to stop ends the process.
      if request != .stop { signal(number, SIG_IGN) }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        if request == .stop {
          if !end.isInGoodOrder.load(ordering: .acquiring) { giveUp() }
          end.isAsked.store(true, ordering: .releasing)
        }
        continuation.yield(request)
      }
      source.resume()
      return source
    }
  }

  /// True if ``Request/stop`` has arrived, even if the stream dropped it because a hundred requests were pending.
  var isStopAsked: Bool { end.isAsked.load(ordering: .acquiring) }

  /// Makes ``Request/stop`` end the service in good order from now on. Call it before the service listens; any thread
  /// can call it.
  var endInGoodOrder: @Sendable () -> Void { { [end] in end.isInGoodOrder.store(true, ordering: .releasing) } }
}
