package import PushCore

/// What takes the body of a stream as it arrives, and room as it opens, instead of the whole message at its end.
package protocol StreamConsumer: AnyObject {
  /// A piece of the body. The bytes end with the call.
  func received(_ bytes: UnsafeRawBufferPointer)
  /// The peer has ended its side.
  func receivedEnd()
  /// Everything written so far has been handed to the connection.
  func drained()
  /// The connection is about to end in good order: a stream that would stay open for ever ends itself.
  func drain()
  /// The stream is over: no further call comes.
  func closed()
}

/// One HTTP/2 stream: the message that arrives and the bytes that wait to be sent.
///
/// Owned by its ``HTTP2Session`` while it is open, then by the pool of its loop.
package final class HTTP2Stream {
  /// The stream identifier (RFC 9113 §5.1.1); 0 in the pool.
  package fileprivate(set) var id: Int32 = 0
  /// The message that arrives.
  package let message = Message()
  /// Takes the body as it arrives; without one the body is kept in ``message``.
  package var consumer: (any StreamConsumer)?

  private var outbound = OutboundBytes()
  /// Whether no more bytes will be written.
  package private(set) var isOutboundEnded = false
  /// Whether nghttp2 was told to ask again only when there is more.
  package var isDeferred = false
  /// Whether a head has been submitted on this stream.
  package var hasSubmittedHead = false
  /// Whether the message's head is there.
  package var hasHead = false
  /// Whether the peer has ended its side: the whole message is there.
  package var isInboundEnded = false
  /// Bytes of the message that count against what a peer may leave incomplete.
  package var incompleteSize = 0
  /// How often its connection's times were looked at since the message began (``Limits/tick``).
  package var age = 0
  /// Whether it was answered although the peer had not ended its side, and nobody waits for it any longer.
  package var isAbandoned = false
  /// A number of the owner's own; a client finds with it what it asked for.
  package var tag = 0
  /// Where the session keeps this stream among its open ones.
  package var place = 0

  /// Bytes that wait to be sent.
  package var outboundSize: Int { outbound.count }

  /// Begins a new life under an identifier.
  package func open(id: Int32) { self.id = id }

  /// Makes it as new.
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
    age = 0
    isAbandoned = false
  }

  /// Adds bytes to send; `ending` says that they are the last.
  package func write(_ bytes: some Collection<UInt8>, ending: Bool) {
    outbound.append(copying: bytes)
    if ending { isOutboundEnded = true }
  }

  /// Adds bytes to send, of which no copy is made.
  package func write(_ bytes: consuming [UInt8], ending: Bool) {
    outbound.append(bytes)
    if ending { isOutboundEnded = true }
  }

  /// Moves what fits into a frame; the second value says whether it ends the stream.
  package func read(into frame: UnsafeMutableRawBufferPointer) -> (size: Int, isEnd: Bool) {
    // A stream that stays open for days holds nothing while it is silent.
    let size = unsafe outbound.move(to: frame, keepingCapacity: consumer == nil)
    return (size, isOutboundEnded && outboundSize == 0)
  }
}

/// Streams of one loop that wait for their next use. Bounded, so that one burst does not hold memory for ever.
package final class StreamPool {
  private var streams: [HTTP2Stream] = []
  private static let maximumCount = 2048

  private let open: Gauge

  /// - Parameter open: is told how many streams are in use.
  package init(open: Gauge = Gauge()) { self.open = open }

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
