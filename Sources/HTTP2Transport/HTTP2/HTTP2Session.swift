import CNGHTTP2
import PushCore

/// The events that a session reports while bytes are received. No method may receive or send on the session; it may
/// submit frames, which the owner sends afterwards.
package protocol HTTP2SessionDelegate: AnyObject {
  /// Reports that the head of a message is complete. The owner then decides about the body: the size to store
  /// (``Message/maximumBodySize``), or its consumer (``HTTP2Stream/consumer``).
  func session(_ session: HTTP2Session, receivedHeadOn stream: HTTP2Stream)
  /// Reports that the message is complete.
  func session(_ session: HTTP2Session, receivedEndOn stream: HTTP2Stream)
  /// Reports that the stream is over; it returns to the pool after this call.
  func session(_ session: HTTP2Session, closed stream: HTTP2Stream, errorCode: UInt32)
  /// Reports that SETTINGS of the peer have arrived.
  func sessionReceivedSettings(_ session: HTTP2Session)
  /// Reports the answer to a PING, with the number in its payload.
  func session(_ session: HTTP2Session, receivedPong number: UInt64)
  /// Reports that the peer accepts no further streams above `lastStreamID`.
  func session(_ session: HTTP2Session, goingAwayAfter lastStreamID: Int32, debugData: [UInt8])
  /// Reports that the peer exceeded a limit; a stream that did so is already reset.
  func session(_ session: HTTP2Session, exceeded limit: TransportLimit)
  /// Reports that a message exceeded the limit for header fields.
  ///
  /// - Returns: true if the owner responds once the head is complete, without the excess fields; if false, the stream
  ///   is reset.
  func session(_ session: HTTP2Session, answersExcessFieldsOn stream: HTTP2Stream) -> Bool
}

extension HTTP2SessionDelegate {
  // Defaults for an end that needs only some events; a client selects its one server.
  package func sessionReceivedSettings(_ session: HTTP2Session) {}
  package func session(_ session: HTTP2Session, receivedPong number: UInt64) {}
  package func session(_ session: HTTP2Session, goingAwayAfter lastStreamID: Int32, debugData: [UInt8]) {}
  package func session(_ session: HTTP2Session, exceeded limit: TransportLimit) {}
  package func session(_ session: HTTP2Session, answersExcessFieldsOn stream: HTTP2Stream) -> Bool { false }
}

/// One nghttp2 session of a server or a client, between received bytes, events and bytes to send. It uses no sockets
/// and no clocks.
///
/// Not `Sendable`: a session and its streams belong to the loop of their connection.
@safe package final class HTTP2Session {
  package enum Role { case server, client }

  package let role: Role
  /// The receiver of events. Its owner breaks this possible reference cycle when the connection closes.
  package var delegate: (any HTTP2SessionDelegate)?

  let handle: OpaquePointer
  let pool: StreamPool
  /// The buffer in which a server packs its frames.
  private let frameBuffer: FrameBuffer
  /// The open streams. Each stores its index here, so that opening and closing need no hash table.
  private var open: [HTTP2Stream] = []
  /// The most recently opened stream while it is open: most input belongs to it and needs no lookup.
  var newest: Unmanaged<HTTP2Stream>?
  var newestID: Int32 = 0
  /// The ID of the most recently opened stream.
  package internal(set) var highestID: Int32 = 0
  /// The ID of the last stream that is served; its owner leaves later streams without a response.
  package var lastServed = Int32.max
  /// The names of fields that were sent on this session.
  var sentNames = SentNames()
  /// The streams whose consumers have to be notified that all their output was sent.
  var drainedStreams: [HTTP2Stream] = []
  /// The number of stored bytes of incomplete messages, of all streams.
  package internal(set) var incompleteSize = 0
  /// The maximum of ``incompleteSize``; a stream that exceeds it is reset.
  package var maximumIncompleteSize = Int.max
  /// The number of bytes that the open streams keep: ``Limits/streamSize`` for each, incomplete messages, and bytes
  /// pending to be sent. Excludes streams with a consumer, which has limits of its own.
  package internal(set) var keptSize = 0
  /// The maximum of ``keptSize`` while the pool is full (``StreamPool/isFull``); streams that exceed it are refused.
  package var keptShare = Int.max
  /// The maximum number of streams that the peer may reset in total; nghttp2 has a limit of its own as well.
  package var maximumPeerResets = Int.max
  /// The numbers of the peer's actions that cause work.
  var costs = PeerCosts()
  /// The ID of the stream that the peer reset last.
  var peerResetID: Int32 = 0
  /// The recently closed streams of the peer.
  var closedStreams = ClosedStreams()
  /// The parser of the frame heads in a client's bytes.
  private var frameWalk = FrameWalk()
  /// The frame that was received only in part.
  private var unfinishedFrame: FrameWalk.Head?
  /// True during a call into nghttp2: no callback may receive or send (nghttp2 manual, "Remarks").
  private var isBusy = false

  /// Creates a session and queues its first SETTINGS.
  ///
  /// - Parameters:
  ///   - pool: the source of streams.
  ///   - frameBuffer: the buffer in which a server packs its frames; sessions that share one belong to one loop.
  ///   - maximumStreams: the maximum number of open streams that a server announces to its peer.
  package init(
    role: Role, pool: StreamPool, frameBuffer: FrameBuffer = FrameBuffer(),
    maximumStreams: Int = Limits.maximumConcurrentStreams
  ) throws(HTTP2Error) {
    self.role = role
    self.pool = pool
    self.frameBuffer = frameBuffer
    var handle: OpaquePointer?
    let options = unsafe HTTP2Callbacks.options(of: role)
    let code =
      switch role {
      case .server:
        unsafe frameBuffer.withMemory { memory in
          unsafe nghttp2_session_server_new3(&handle, HTTP2Callbacks.table, nil, options, memory)
        }
      case .client: unsafe nghttp2_session_client_new2(&handle, HTTP2Callbacks.table, nil, options)
      }
    try HTTP2Error.check(code)
    guard let handle = unsafe handle else { throw HTTP2Error(code: NGHTTP2_ERR_NOMEM.rawValue) }
    unsafe self.handle = unsafe handle
    unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
    try submitSettings(maximumStreams: maximumStreams)
  }

  deinit {
    unsafe nghttp2_session_del(handle)
  }

  /// The number of open streams.
  package var openCount: Int { open.count }

  /// True if the session has nothing left to send or receive.
  package var isFinished: Bool {
    unsafe nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
  }

  /// True if there are frames to send.
  package var wantsToSend: Bool { unsafe nghttp2_session_want_write(handle) != 0 }

  /// The number of frames pending to be sent, except DATA that is blocked by flow control.
  package var waitingFrames: Int { unsafe nghttp2_session_get_outbound_queue_size(handle) }

  /// The number of body bytes pending to be sent, on all streams; computed over every open stream.
  package var waitingSize: Int { open.reduce(0) { $0 + $1.outboundSize } }

  /// The maximum number of streams that the peer lets this side open (RFC 9113 §6.5.2).
  package var peerStreamLimit: Int {
    Int(unsafe nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
  }

  /// True if a request has begun on this session.
  package var hasBegun: Bool { unsafe nghttp2_session_get_last_proc_stream_id(handle) > 0 }

  /// Returns an open stream, or nil if it is over.
  package func stream(_ id: Int32) -> HTTP2Stream? {
    if id == newestID, let newest = unsafe newest { return unsafe newest.takeUnretainedValue() }
    guard let context = unsafe nghttp2_session_get_stream_user_data(handle, id) else { return nil }
    return unsafe Unmanaged<HTTP2Stream>.fromOpaque(context).takeUnretainedValue()
  }

  /// The open streams, for a drain.
  package var openStreams: [HTTP2Stream] { open }

  // MARK: Bytes

  /// Processes bytes of the peer; the delegate receives the resulting events.
  package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
    precondition(!isBusy, "a callback received")
    isBusy = true
    defer { isBusy = false }
    switch role {
    case .server: unsafe try receiveFromClient(bytes)
    case .client: unsafe try feed(bytes[...])
    }
  }

  private func feed(_ bytes: Slice<UnsafeRawBufferPointer>) throws(HTTP2Error) {
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: bytes)
    let taken = unsafe nghttp2_session_mem_recv(
      handle, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    try HTTP2Error.check(Int32(clamping: taken))
  }

  /// Passes bytes of a client to nghttp2, and detects DATA on closed streams.
  ///
  /// nghttp2 may need the preceding bytes to determine that a stream is closed: a stream closes when its response is
  /// sent, except for a stream that the client ends.
  private func receiveFromClient(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
    let newestBefore = highestID
    // The frame that was incomplete in the preceding bytes comes first.
    var last = unfinishedFrame
    var (sawEnd, sawReset) = (last?.endsStream ?? false, last?.isReset ?? false)
    var start = 0
    while let head = unsafe frameWalk.next(in: bytes) {
      if head.isData, sawReset || head.stream <= newestBefore && (sawEnd || stream(head.stream) == nil) {
        unsafe try feed(bytes[start..<head.start])
        start = head.start
        beginsData(on: head.stream)
      }
      sawEnd = sawEnd || head.endsStream
      sawReset = sawReset || head.isReset
      last = head
    }
    unfinishedFrame = frameWalk.isWithinFrame ? last : nil
    unsafe try feed(bytes[start...])
  }

  /// Appends due frames to `output` until it holds `limit` bytes or none is left.
  ///
  /// - Returns: true if there may be more.
  package func send(into output: inout [UInt8], limit: Int) throws(HTTP2Error) -> Bool {
    precondition(!isBusy, "a callback sent")
    isBusy = true
    defer { isBusy = false }
    while output.count < limit {
      var data: UnsafePointer<UInt8>?
      let size = unsafe nghttp2_session_mem_send(handle, &data)
      try HTTP2Error.check(Int32(clamping: size))
      guard size > 0, let data = unsafe data else { return false }
      unsafe output.append(contentsOf: UnsafeBufferPointer(start: data, count: size))
    }
    return true
  }

  /// Notifies the consumers of streams whose bytes are all sent; call it after sending.
  ///
  /// - Returns: true if there was such a stream.
  @discardableResult
  package func announceDrained() -> Bool {
    guard !drainedStreams.isEmpty else { return false }
    // A consumer only submits frames: no stream is added here until the next call of send().
    while let stream = drainedStreams.popLast() {
      if stream.outboundSize == 0 { stream.consumer?.drained() }
    }
    return true
  }

  // MARK: Submitting

  /// Submits a complete response. A body leaves as one DATA frame that ends the stream, as far as flow control
  /// allows; without a body the HEADERS frame ends it.
  package func respond(_ fields: HeaderFields, body: some Collection<UInt8>, on stream: HTTP2Stream) throws(HTTP2Error)
  {
    if !body.isEmpty {
      stream.write(body, ending: true)
      recount(stream)
    }
    try submitHead(fields, on: stream, hasBody: !body.isEmpty)
  }

  /// Submits the head of a response whose body follows piece by piece with ``write(_:ending:on:)``.
  package func beginResponse(_ fields: HeaderFields, on stream: HTTP2Stream) throws(HTTP2Error) {
    try submitHead(fields, on: stream, hasBody: true)
  }

  /// Opens a stream with a request; the body, if any, follows with ``write(_:ending:on:)``.
  package func request(_ fields: HeaderFields, hasBody: Bool) throws(HTTP2Error) -> HTTP2Stream {
    let stream = pool.take(id: 0)
    let id = unsafe sentNames.withNameValues(fields) { names, count in
      guard hasBody else {
        return unsafe nghttp2_submit_request(handle, nil, names, count, nil, stream.opaque)
      }
      var provider = unsafe stream.dataProvider
      return unsafe nghttp2_submit_request(handle, nil, names, count, &provider, stream.opaque)
    }
    guard id > 0 else {
      pool.give(stream)
      throw HTTP2Error(code: id)
    }
    stream.open(id: id)
    stream.hasSubmittedHead = true
    add(stream)
    return stream
  }

  package func write(_ bytes: some Collection<UInt8>, ending: Bool, on stream: HTTP2Stream) {
    stream.write(bytes, ending: ending)
    recount(stream)
    resume(stream)
  }

  /// Appends bytes to a stream's body, without copying them if no other bytes are pending.
  package func write(_ bytes: consuming [UInt8], ending: Bool, on stream: HTTP2Stream) {
    stream.write(bytes, ending: ending)
    recount(stream)
    resume(stream)
  }

  private func resume(_ stream: HTTP2Stream) {
    guard stream.isDeferred else { return }
    stream.isDeferred = false
    unsafe nghttp2_session_resume_data(handle, stream.id)
  }

  /// Resets a stream (RFC 9113 §6.4).
  package func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    unsafe nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
  }

  /// Resets a stream with an arbitrary code.
  package func reset(_ stream: HTTP2Stream, code: UInt32) {
    unsafe nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code)
  }

  /// Announces that streams after the received ones, or after ``lastServed``, are not accepted (RFC 9113 §6.8).
  package func goAway(_ code: HTTP2ErrorCode = .noError, debugData: [UInt8]) {
    let last = min(unsafe nghttp2_session_get_last_proc_stream_id(handle), lastServed)
    unsafe nghttp2_submit_goaway(
      handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code.rawValue, debugData, debugData.count)
  }

  /// Announces a new maximum number of open streams to the peer.
  package func announce(maximumStreams: Int) { announce(HTTP2Settings.maximumStreams(maximumStreams)) }

  /// Announces a new initial window of each stream to the peer, in bytes (RFC 9113 §6.9.2).
  package func announce(streamWindow: Int) { announce(HTTP2Settings.streamWindow(streamWindow)) }

  private func announce(_ setting: nghttp2_settings_entry) {
    var setting = setting
    unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), &setting, 1)
    costs.sentSettings()
  }

  /// Submits a PING with a number as its payload.
  package func ping(_ number: UInt64 = 0) {
    let payload = unsafe withUnsafeBytes(of: number) { unsafe Array($0) }
    unsafe nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), payload)
  }

  /// Reports every open stream as closed, after the end of the connection, which nghttp2 does not report.
  package func abandon() {
    while let stream = open.last { close(stream, errorCode: HTTP2ErrorCode.cancel.rawValue) }
  }

  // MARK: Inside

  private func submitSettings(maximumStreams: Int) throws(HTTP2Error) {
    let settings = HTTP2Settings.initial(isServer: role == .server, maximumStreams: maximumStreams)
    try HTTP2Error.check(
      unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count))
    costs.sentSettings()
    // One provider library writes a body in a single call and waits a second if the window is too small.
    try HTTP2Error.check(
      unsafe nghttp2_session_set_local_window_size(
        handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(Limits.connectionWindowSize)))
  }

  private func submitHead(_ fields: HeaderFields, on stream: HTTP2Stream, hasBody: Bool) throws(HTTP2Error) {
    stream.hasSubmittedHead = true
    let code = unsafe sentNames.withNameValues(fields) { names, count in
      guard hasBody else { return unsafe nghttp2_submit_response(handle, stream.id, names, count, nil) }
      var provider = unsafe stream.dataProvider
      return unsafe nghttp2_submit_response(handle, stream.id, names, count, &provider)
    }
    try HTTP2Error.check(code)
  }

  func add(_ stream: HTTP2Stream) {
    stream.openIndex = open.count
    open.append(stream)
  }

  func close(_ stream: HTTP2Stream, errorCode: UInt32) {
    release(stream)
    count(stream, as: 0)
    let isWhole = stream.isInboundEnded && errorCode == HTTP2ErrorCode.noError.rawValue
    let end: ClosedStreams.End = isWhole ? .whole : stream.id == peerResetID ? .reset : .ours
    delegate?.session(self, closed: stream, errorCode: errorCode)
    stream.consumer?.closed()
    if role == .server { closedStreams.note(stream.id, end) }
    let last = open.removeLast()
    if last !== stream {
      open[stream.openIndex] = last
      last.openIndex = stream.openIndex
    }
    if !drainedStreams.isEmpty { drainedStreams.removeAll { $0 === stream } }
    if newestID == stream.id { (newestID, unsafe newest) = (0, nil) }
    // An abandoned session keeps the ID: a late response must not find a stream that is reused for another request.
    unsafe nghttp2_session_set_stream_user_data(handle, stream.id, nil)
    pool.give(stream)
    checkInvariants()
  }

  // MARK: Invariants

  /// Returns a description of an invariant of the open streams that does not hold; nil if all hold.
  package func brokenInvariant() -> String? {
    for (openIndex, stream) in open.enumerated() {
      if stream.id == 0 { return "a stream that is over is among the open ones" }
      if stream.openIndex != openIndex { return "stream \(stream.id) is at \(openIndex), and says \(stream.openIndex)" }
    }
    let held = open.reduce(0) { $0 + $1.incompleteSize }
    if held != incompleteSize { return "\(held) bytes are incomplete, and \(incompleteSize) are counted" }
    let kept = open.reduce(0) { $0 + $1.keptSize }
    if kept != keptSize { return "\(kept) bytes are kept, and \(keptSize) are counted" }
    let isNewestOpen = newestID == 0 || open.contains { $0.id == newestID }
    return isNewestOpen ? nil : "stream \(newestID) is over, and the newest"
  }

  /// Ends a debug build in which an invariant does not hold; a release build does not contain this check. Sessions
  /// with many open streams are not checked, since the check follows each end of a stream.
  private func checkInvariants() {
    assert(open.count > 64 || brokenInvariant() == nil, brokenInvariant() ?? "")
  }
}
