import Dispatch
import Glibc
import Synchronization

/// What a service is asked for by signals, and otherwise, one after the other.
final class ServiceRequests {
  enum Request: Equatable, Sendable {
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
  private let end = End()

  /// Whether and how the service ends, for the threads of signals.
  private final class End: Sendable {
    let isInGoodOrder = Atomic<Bool>(false)
    let isAsked = Atomic<Bool>(false)
  }

  /// From here on these signals do not end the process.
  ///
  /// - Parameter giveUp: ends the process, on any thread, which is asked for that before it listens: a start may wait a minute for
  ///   others, and leaves nothing behind that the next one can't find.
  init(giveUp: @escaping @Sendable () -> Never) {
    let (stream, continuation) = AsyncStream.makeStream(of: Request.self, bufferingPolicy: .bufferingOldest(100))
    (self.stream, self.continuation) = (stream, continuation)
    sources = ServiceRequests.signals.map { [end] number, request in
      // The source replaces the action. Until then a request to stop ends the process, and no other request does.
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

  /// Whether ``Request/stop`` has come. The stream leaves it out when a hundred requests came before it.
  var isStopAsked: Bool { end.isAsked.load(ordering: .acquiring) }

  /// Has the service end by ``Request/stop`` from now on. Of use on any thread; called before it listens.
  var endInGoodOrder: @Sendable () -> Void { { [end] in end.isInGoodOrder.store(true, ordering: .releasing) } }
}
