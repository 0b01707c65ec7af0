import Dispatch
import Glibc

/// SIGTERM and SIGINT as values, instead of the end of the process.
final class StopSignals {
  private let sources: [any DispatchSourceSignal]
  private let stream: AsyncStream<Int32>

  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    self.stream = stream
    sources = [SIGTERM, SIGINT].map { number in
      // The source replaces the default action, which ends the process until then: no signal is lost between the two.
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(number) }
      source.resume()
      return source
    }
  }

  /// Waits for the next signal.
  func next() async -> Int32? { await stream.first { _ in true } }
}
