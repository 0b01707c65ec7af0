package import PushCore

/// A receiver of the body of a stream as it arrives, instead of the whole message at its end. It is also notified
/// when more output can be written.
package protocol StreamConsumer: AnyObject {
  /// True if the stream has no natural end, as the stream of a device: its peer loses nothing if it does not read the end.
  var isEndless: Bool { get }
  /// Receives a piece of the body. The bytes are valid only during the call.
  func received(_ bytes: UnsafeRawBufferPointer)
  /// Reports that the peer has ended its side.
  func receivedEnd()
  /// Reports that all bytes written so far were handed to the connection.
  func drained()
  /// Reports that the connection is about to end in an orderly way: a stream without a natural end ends itself.
  func drain()
  /// Reports that the stream is over: no further call follows.
  func closed()
}

extension StreamConsumer {
  // Defaults for a consumer of some events.
  package var isEndless: Bool { false }
  package func received(_ bytes: UnsafeRawBufferPointer) {}
  package func receivedEnd() {}
  package func drained() {}
  package func drain() {}
  package func closed() {}
}

/// One HTTP/2 stream: the received message and the bytes pending to be sent.
///
/// Owned by its ``HTTP2Session`` while it is open, then by the pool of its loop.
package final class HTTP2Stream {
  /// The stream identifier (RFC 9113 §5.1.1); 0 in the pool.
  package fileprivate(set) var id: Int32 = 0
  /// The received message.
  package let message = Message()
  /// The receiver of the body as it arrives; if nil, the body is stored in ``message``.
  package var consumer: (any StreamConsumer)?
  package var isEndless: Bool { consumer?.isEndless == true }

  private var outbound = OutboundBytes()
  /// True if no more bytes will be written.
  package private(set) var isOutboundEnded = false
  /// True if nghttp2 reads from this stream again only after ``HTTP2Session/write(_:ending:on:)``.
  package var isDeferred = false
  /// True if a head was submitted on this stream.
  package var hasSubmittedHead = false
  /// True if the message's head is complete.
  package var hasHead = false
  /// True if the peer has ended its side: the message is complete.
  package var isInboundEnded = false
  /// The number of bytes of the message that count toward ``HTTP2Session/maximumIncompleteSize``.
  package var incompleteSize = 0
  /// The number of bytes that count toward ``HTTP2Session/keptSize``.
  package var keptSize = 0
  /// The number of ticks since the message began, of ``Limits/tick`` seconds each.
  package var age = 0
  /// True if the request was answered before the peer ended its side, and the rest of it is not needed.
  package var isAbandoned = false
  /// A number for use by the owner; a client finds its request by it.
  package var tag = 0
  /// The index of this stream in the session's list of open streams.
  package var openIndex = 0

  /// The number of bytes pending to be sent.
  package var outboundSize: Int { outbound.count }

  /// Assigns an ID for the next use of the stream.
  package func open(id: Int32) { self.id = id }

  /// Resets the stream for its next use.
  package func reset() {
    id = 0
    tag = 0
    message.reset()
    consumer = nil
    outbound.removeAll(keepingCapacity: true)
    isOutboundEnded = false
    isDeferred = false
    hasSubmittedHead = false
    hasHead = false
    isInboundEnded = false
    incompleteSize = 0
    keptSize = 0
    age = 0
    isAbandoned = false
  }

  /// Appends bytes to send; `ending` marks them as the last.
  package func write(_ bytes: some Collection<UInt8>, ending: Bool) {
    outbound.append(copying: bytes)
    if ending { isOutboundEnded = true }
  }

  /// Appends bytes to send, without copying them.
  package func write(_ bytes: consuming [UInt8], ending: Bool) {
    outbound.append(bytes)
    if ending { isOutboundEnded = true }
  }

  /// Moves as many pending bytes as fit into a frame; `isEnd` is true if the frame ends the stream.
  package func read(into frame: UnsafeMutableRawBufferPointer) -> (size: Int, isEnd: Bool) {
    // A stream that stays open for days keeps no buffer while it is idle.
    let size = unsafe outbound.move(to: frame, keepingCapacity: consumer == nil)
    return (size, isOutboundEnded && outboundSize == 0)
  }
}

/// The reusable streams of one loop. Bounded, so that one burst does not keep memory forever.
package final class StreamPool {
  private var streams: [HTTP2Stream] = []
  private static let maximumCount = 2048

  private let open: Gauge
  /// The sum of ``HTTP2Session/keptSize`` of all sessions that use this pool.
  package var keptSize = 0
  private let maximumKeptSize: Int
  /// True if ``HTTP2Session/keptShare`` applies to the sessions.
  package var isFull: Bool { keptSize > maximumKeptSize }

  /// - Parameters:
  ///   - open: counts the streams in use.
  ///   - maximumKeptSize: the maximum of ``keptSize`` at which sessions have no share.
  package init(open: Gauge = Gauge(), maximumKeptSize: Int = Limits.maximumKeptSize) {
    self.open = open
    self.maximumKeptSize = maximumKeptSize
  }

  package func take(id: Int32) -> HTTP2Stream {
    open.add(1)
    let stream = streams.popLast() ?? HTTP2Stream()
    stream.open(id: id)
    return stream
  }

  package func give(_ stream: HTTP2Stream) {
    open.add(-1)
    stream.reset()
    if streams.count < StreamPool.maximumCount { streams.append(stream) }
  }
}
