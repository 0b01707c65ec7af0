import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// Reports the streams of the devices of a test gateway, and disturbs them: for the checks of a client.
///
/// The gateway serves the streams as in production. The tap is between the stream and the gateway for the bytes of the device,
/// and adds bytes of its own in the other direction.
package final class DeviceTap: Sendable {
  /// An event of a device's stream. Streams are numbered from 1 in the order of their requests.
  package enum Event: Sendable, Equatable {
    /// The gateway has accepted a stream of the device with this name.
    case opened(stream: Int, device: String)
    /// A request for a stream was refused.
    case refused
    /// The device acknowledges the pushes up to a number, on its stream or in a request.
    case acknowledgement(stream: Int, seq: UInt64)
    case closed(stream: Int)
    /// The delivery log has the acknowledgement of the push with this id.
    case acknowledged(String)
  }

  private struct Stream: Sendable {
    var reference: NIOLoopBound<StreamReference>
    var framing: DeviceStream.Framing
  }

  private struct State: Sendable {
    /// The number of the newest stream.
    var last = 0
    var isRefusing = false
    var open: [Int: Stream] = [:]

    var newest: Stream? { open.max { $0.key < $1.key }?.value }
  }

  private let state = Mutex(State())
  private let report: @Sendable (Event) -> Bool

  /// The pause between two pieces of a line.
  private static let pause = TimeAmount.milliseconds(20)
  private static let refusal = Problem(503, "Service Unavailable", "a check of this client refuses it: try again")

  /// - Parameter report: receives each event on the thread where it occurs, before the gateway handles it. Returns false for an
  ///   acknowledgement that the gateway must not receive.
  package init(report: @escaping @Sendable (Event) -> Bool) { self.report = report }

  // MARK: Disturbances

  /// Refuses requests for streams with 503 from now on, or accepts them again.
  package func refuse(_ isRefusing: Bool) { state.withLock { $0.isRefusing = isRefusing } }

  /// Sends lines on the newest stream.
  ///
  /// - Parameter size: the size in bytes of the pieces, each of which is sent after a pause; nil for one piece.
  package func send(_ lines: [String], inPiecesOf size: Int? = nil) {
    guard let stream = state.withLock({ $0.newest }) else { return }
    let isEvents = stream.framing == .events
    let bytes = lines.flatMap { Array((isEvents ? "data: \($0)\n\n" : "\($0)\n").utf8) }
    let size = max(1, size ?? bytes.count)
    let pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    let reference = stream.reference
    reference.eventLoop.execute { DeviceTap.write(pieces[...], to: reference) }
  }

  private static func write(_ pieces: ArraySlice<[UInt8]>, to reference: NIOLoopBound<StreamReference>) {
    guard let piece = pieces.first else { return }
    reference.value.exchange?.write(piece)
    reference.eventLoop.scheduleTask(in: pause) { write(pieces.dropFirst(), to: reference) }
  }

  /// Ends the newest stream as a gateway does that stops; its connection stays open.
  package func endStream() {
    guard let reference = state.withLock({ $0.newest })?.reference else { return }
    reference.eventLoop.execute { reference.value.exchange?.stream.consumer?.drain() }
  }

  /// Ends the connection of the newest stream with GOAWAY, after the end of its streams.
  package func endConnection() {
    guard let reference = state.withLock({ $0.newest })?.reference else { return }
    reference.eventLoop.execute { reference.value.connection.drain() }
  }

  // MARK: From the test gateway

  /// Serves a request for a stream by `serve`, and takes the stream over.
  func open(_ exchange: Exchange, serve: () -> Void) {
    guard !state.withLock({ $0.isRefusing }) else {
      exchange.respond(DeviceTap.refusal.response)
      _ = report(.refused)
      return
    }
    serve()
    guard let stream = exchange.stream.consumer as? DeviceStream else {
      _ = report(.refused)
      return
    }
    let entry = Stream(
      reference: NIOLoopBound(exchange.reference, eventLoop: exchange.connection.loop.eventLoop),
      framing: stream.framing)
    let number = state.withLock { state in
      state.last += 1
      state.open[state.last] = entry
      return state.last
    }
    exchange.stream.consumer = TappedStream(stream, number: number, tap: self)
    _ = report(.opened(stream: number, device: stream.device.name))
  }

  /// Returns true if the gateway handles a request of acknowledgement.
  func passes(acknowledgement body: [UInt8]) -> Bool {
    let found = try? JSONParser().parse(body.span) { $0["seq"]?.integer }
    guard let seq = found ?? nil else { return true }
    let stream = state.withLock { $0.open.keys.max() ?? $0.last }
    return report(.acknowledgement(stream: stream, seq: UInt64(clamping: seq)))
  }

  /// Reports acknowledgements that are in the delivery log.
  func note(acknowledged ids: [APNSID]) {
    for id in ids { _ = report(.acknowledged(id.description)) }
  }

  fileprivate func passes(_ seq: UInt64, on stream: Int) -> Bool {
    report(.acknowledgement(stream: stream, seq: seq))
  }

  fileprivate func close(_ stream: Int) {
    state.withLock { $0.open[stream] = nil }
    _ = report(.closed(stream: stream))
  }
}

/// The stream of a device behind a tap, which receives the device's lines first. Belongs to the event loop of the stream.
private final class TappedStream: StreamConsumer {
  let isEndless = true
  private let stream: DeviceStream
  private let number: Int
  private let tap: DeviceTap
  private let parser = JSONParser()
  /// The beginning of an incomplete line.
  private var partial: [UInt8] = []

  init(_ stream: DeviceStream, number: Int, tap: DeviceTap) {
    (self.stream, self.number, self.tap) = (stream, number, tap)
  }

  func received(_ bytes: UnsafeRawBufferPointer) {
    var rest = unsafe bytes[...]
    while let end = unsafe rest.firstIndex(of: UInt8(ascii: "\n")) {
      unsafe partial.append(contentsOf: rest[...end])
      unsafe rest = unsafe rest[(end + 1)...]
      let line = partial
      partial = []
      if case .acknowledge(let seq)? = DeviceLine(Array(line.dropLast()).span, parser: parser),
        !tap.passes(seq, on: number)
      {
        continue
      }
      pass(line)
    }
    unsafe partial.append(contentsOf: rest)
    // The gateway ends the stream after such a line.
    guard partial.count > Limits.maximumLineSize else { return }
    pass(partial)
    partial = []
  }

  private func pass(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe stream.received($0) } }

  func receivedEnd() { stream.receivedEnd() }
  func drained() { stream.drained() }
  func drain() { stream.drain() }

  func closed() {
    stream.closed()
    tap.close(number)
  }
}
