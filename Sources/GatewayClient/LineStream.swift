import HTTP2Transport
import NIOCore
import PushCore
import Synchronization

/// A stream of lines in both directions.
package final class LineStream: Sendable {
  /// The lines of the gateway, without their ends; finishes with the stream, throws when the connection is lost.
  ///
  /// If lines are gathered, each element is one line or more with their ends, and has to be passed to
  /// ``taken(_:)`` by size.
  package let lines: AsyncThrowingStream<[UInt8], any Error>
  private let writer: NIOLoopBound<StreamReference>
  private let backlog: ReaderBacklog

  init(
    lines: AsyncThrowingStream<[UInt8], any Error>, writer: NIOLoopBound<StreamReference>, backlog: ReaderBacklog
  ) {
    self.lines = lines
    self.writer = writer
    self.backlog = backlog
  }

  /// Reports that gathered lines of `size` bytes were released. The bytes in memory are limited; beyond the limit the
  /// client stops reading, and the gateway pauses.
  package func taken(_ size: Int) {
    guard backlog.take(size) else { return }
    writer.eventLoop.execute { self.writer.value.connection.resumeReading() }
  }

  package func send(_ line: String) {
    writer.eventLoop.execute {
      self.writer.value.exchange?.write(Array((line + "\n").utf8))
    }
  }

  /// Ends the client's side of the stream; the gateway then ends its own.
  package func finish() {
    writer.eventLoop.execute {
      self.writer.value.exchange?.write([], ending: true)
    }
  }
}

/// The number of bytes that a reader has delivered and that the consumer has not released.
final class ReaderBacklog: Sendable {
  /// The number of bytes above which reading pauses, and the number below which it continues.
  private static let bounds = (high: 8 << 20, low: 2 << 20)

  private let state = Mutex((size: 0, isPaused: false))

  /// Adds bytes; returns true when reading has to pause now.
  func add(_ size: Int) -> Bool {
    state.withLock { state in
      state.size += size
      guard !state.isPaused, state.size > ReaderBacklog.bounds.high else { return false }
      state.isPaused = true
      return true
    }
  }

  /// Removes bytes; returns true when reading has to continue.
  func take(_ size: Int) -> Bool {
    state.withLock { state in
      state.size -= size
      guard state.isPaused, state.size < ReaderBacklog.bounds.low else { return false }
      state.isPaused = false
      return true
    }
  }
}

/// Splits a response body into lines.
final class LineReader: StreamConsumer {
  private let reference: NIOLoopBound<StreamReference>
  private let isGathering: Bool
  private let opened: (Result<LineStream, any Error>) -> Void
  private let backlog = ReaderBacklog()
  private var lines: AsyncThrowingStream<[UInt8], any Error>.Continuation?
  private var partial: [UInt8] = []
  /// True after a line was too long: nothing more is read.
  private var isOver = false

  init(
    _ reference: NIOLoopBound<StreamReference>, isGathering: Bool,
    _ opened: @escaping (Result<LineStream, any Error>) -> Void
  ) {
    self.reference = reference
    self.isGathering = isGathering
    self.opened = opened
  }

  func begin() {
    // Gathered lines are limited by pausing the gateway; the number of single lines is limited here.
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: [UInt8].self, bufferingPolicy: isGathering ? .unbounded : .bufferingOldest(Limits.maximumWaitingLines))
    lines = continuation
    opened(.success(LineStream(lines: stream, writer: reference, backlog: backlog)))
  }

  /// Reports a response that is not a stream of lines.
  func refuse(_ answer: Client.Answer) {
    endOwnSide()
    opened(.failure(answer.refusal))
  }

  func end(_ error: (any Error)?) {
    guard let lines else {
      return opened(.failure(error ?? ClientError(.unreachable, "the gateway closed the connection")))
    }
    lines.finish(throwing: error)
  }

  func received(_ bytes: UnsafeRawBufferPointer) {
    if isOver { return }
    if isGathering { unsafe gather(bytes) } else { unsafe split(bytes) }
    if partial.count > Limits.maximumGatewayLineSize { giveUp() }
  }

  /// Ends the stream and its connection when the gateway sends a line without an end.
  private func giveUp() {
    giveUp(
      "the gateway sends a line of more than \(Limits.maximumGatewayLineSize >> 20) MiB, which no push gateway does: check the address"
    )
  }

  private func giveUp(_ reason: String) {
    isOver = true
    partial = []
    lines?.finish(throwing: ClientError(.unreachable, reason))
    reference.value.connection.closeAfterFlush()
  }

  private func split(_ bytes: UnsafeRawBufferPointer) {
    var rest = unsafe bytes[...]
    while let end = unsafe rest.firstIndex(of: UInt8(ascii: "\n")) {
      unsafe partial.append(contentsOf: rest[..<end])
      unsafe rest = unsafe rest[(end + 1)...]
      if case .dropped = lines?.yield(partial) {
        return giveUp("the gateway sends more than \(Limits.maximumWaitingLines) lines that were not read")
      }
      partial = []
    }
    unsafe partial.append(contentsOf: rest)
  }

  /// Delivers all complete lines as one element.
  private func gather(_ bytes: UnsafeRawBufferPointer) {
    guard let end = unsafe bytes.lastIndex(of: UInt8(ascii: "\n")) else {
      return unsafe partial.append(contentsOf: bytes)
    }
    unsafe partial.append(contentsOf: bytes[...end])
    let isPausing = backlog.add(partial.count)
    lines?.yield(partial)
    partial = unsafe Array(bytes[(end + 1)...])
    if isPausing { reference.value.connection.pauseReading() }
  }

  func receivedEnd() {
    lines?.finish()
    endOwnSide()
  }

  /// Ends the client's side: otherwise the stream stays open at the gateway, and delays its drain.
  private func endOwnSide() { reference.value.exchange?.write([], ending: true) }
}
