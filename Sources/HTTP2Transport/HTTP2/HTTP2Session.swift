import CNGHTTP2
import PushCore

/// What a session tells its owner while bytes are received. None of these may receive or send on the session;
/// they submit, and the owner sends afterwards.
package protocol HTTP2SessionDelegate: AnyObject {
  /// The head of a message is complete. Here the owner decides what becomes of the body: how much of it is kept
  /// (``Message/maximumBodySize``), or who takes it (``HTTP2Stream/consumer``).
  func session(_ session: HTTP2Session, receivedHeadOn stream: HTTP2Stream)
  /// The message is complete.
  func session(_ session: HTTP2Session, receivedEndOn stream: HTTP2Stream)
  /// The stream is over and goes back to the pool after this call.
  func session(_ session: HTTP2Session, closed stream: HTTP2Stream, errorCode: UInt32)
  /// The peer's first SETTINGS have arrived.
  func sessionReceivedSettings(_ session: HTTP2Session)
  /// The peer answered a PING.
  func sessionReceivedPong(_ session: HTTP2Session)
  /// The peer will take no further streams above `lastStreamID`.
  func session(_ session: HTTP2Session, goingAwayAfter lastStreamID: Int32, debugData: [UInt8])
  /// The peer went beyond a limit; a stream that did so is reset already.
  func session(_ session: HTTP2Session, exceeded limit: TransportLimit)
  /// More fields came than are taken.
  ///
  /// - Returns: whether the owner answers when the head is complete, without the rest of it; else the stream is reset.
  func session(_ session: HTTP2Session, answersExcessFieldsOn stream: HTTP2Stream) -> Bool
}

extension HTTP2SessionDelegate {
  // A client has one server, which it chose.
  package func session(_ session: HTTP2Session, exceeded limit: TransportLimit) {}
  package func session(_ session: HTTP2Session, answersExcessFieldsOn stream: HTTP2Stream) -> Bool { false }
}

/// One nghttp2 session, of a server or of a client: bytes in, events; bytes out. No sockets, no clocks.
///
/// Not `Sendable`: a session and its streams belong to the loop of their connection.
@safe package final class HTTP2Session {
  package enum Role { case server, client }

  package let role: Role
  /// Its owner ends the cycle that this may be, when the connection is gone.
  package var delegate: (any HTTP2SessionDelegate)?

  private let handle: OpaquePointer
  private let pool: StreamPool
  /// Where a server packs its frames.
  private let frameBuffer: FrameBuffer
  /// Each knows its place here, so that opening and closing cost no hash.
  private var open: [HTTP2Stream] = []
  /// The stream that began last, while it is open: most of what arrives is its, and need not be looked up.
  private var newest: Unmanaged<HTTP2Stream>?
  private var newestID: Int32 = 0
  /// The number of the last stream that began.
  package private(set) var highestID: Int32 = 0
  /// Names of fields that were sent on this session, a bit for each.
  private var sentNames: UInt32 = 0
  /// Streams whose consumer is to hear that all it wrote is on its way.
  private var drainedStreams: [HTTP2Stream] = []
  /// Bytes kept of messages that are not complete, of all streams.
  package private(set) var incompleteSize = 0
  /// What ``incompleteSize`` may be; a stream that goes beyond is reset.
  package var maximumIncompleteSize = Int.max
  /// So many streams may the peer reset in all; nghttp2 has a bound of its own besides.
  package var maximumPeerResets = Int.max
  private var peerResets = 0
  /// Streams that may still be reset because of what the peer did.
  private var resetCredit = Limits.maximumResets
  private var refusedStreams = 0
  /// The stream that the peer has just reset.
  private var peerResetID: Int32 = 0
  /// SETTINGS that were sent and are not acknowledged, and how many times they were looked at since one was.
  private var unacknowledgedSettings = 0
  /// Of the peer's streams.
  private var closedStreams = ClosedStreams()
  /// Where in a client's bytes its frames begin.
  private var frameWalk = FrameWalk()
  /// The frame of which a part has come.
  private var unfinishedFrame: FrameWalk.Head?
  private var settingsAge = 0
  /// No callback may receive or send (nghttp2 manual, "Remarks").
  private var isBusy = false

  /// Makes a session and puts its first SETTINGS in line to be sent.
  ///
  /// - Parameters:
  ///   - pool: where streams come from.
  ///   - frameBuffer: where a server packs its frames; sessions that share one belong to one loop.
  ///   - maximumStreams: how many streams a server lets the peer have open.
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

  /// The streams that are open now.
  package var openCount: Int { open.count }

  /// Whether the session has nothing left to say or hear.
  package var isFinished: Bool {
    unsafe nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
  }

  /// Whether there are frames to send.
  package var wantsToSend: Bool { unsafe nghttp2_session_want_write(handle) != 0 }

  /// Frames that wait to be sent, without the DATA that windows hold back.
  package var waitingFrames: Int { unsafe nghttp2_session_get_outbound_queue_size(handle) }

  /// Bytes of bodies that wait to be sent, on all streams; it looks at each.
  package var waitingSize: Int { open.reduce(0) { $0 + $1.outboundSize } }

  /// Whether a request has begun on this session.
  package var hasBegun: Bool { unsafe nghttp2_session_get_last_proc_stream_id(handle) > 0 }

  /// An open stream, or nil when it is over.
  package func stream(_ id: Int32) -> HTTP2Stream? {
    if id == newestID, let newest = unsafe newest { return unsafe newest.takeUnretainedValue() }
    guard let context = unsafe nghttp2_session_get_stream_user_data(handle, id) else { return nil }
    return unsafe Unmanaged<HTTP2Stream>.fromOpaque(context).takeUnretainedValue()
  }

  /// The streams that are open now, for a drain.
  package var openStreams: [HTTP2Stream] { open }

  // MARK: Bytes

  /// Takes bytes of the peer; the delegate hears what they say.
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

  /// Looks for DATA on streams that are over. To know whether one is, nghttp2 may need the bytes before it first: a stream
  /// ends in what is sent, but for those that the client ends.
  private func receiveFromClient(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
    let newestBefore = highestID
    // The frame that the bytes before these did not hold whole comes first.
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

  /// Appends frames that are due to `output` until it holds `limit` bytes or there are none left.
  ///
  /// - Returns: whether there may be more.
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

  /// Tells the consumers of streams whose bytes are all on their way; call it after sending.
  /// - Returns: whether there was one.
  @discardableResult
  package func announceDrained() -> Bool {
    guard !drainedStreams.isEmpty else { return false }
    // Whoever hears of it only submits: no stream comes here until the next call of send().
    while let stream = drainedStreams.popLast() {
      if stream.outboundSize == 0 { stream.consumer?.drained() }
    }
    return true
  }

  // MARK: Submitting

  /// Submits a whole answer. A body goes out as one DATA frame that ends the stream, as far as windows allow;
  /// without one the HEADERS end it.
  package func respond(_ fields: HeaderFields, body: some Collection<UInt8>, on stream: HTTP2Stream) throws(HTTP2Error)
  {
    if !body.isEmpty { stream.write(body, ending: true) }
    try submitHead(fields, on: stream, hasBody: !body.isEmpty)
  }

  /// Submits the head of an answer whose body follows piece by piece with ``write(_:ending:on:)``.
  package func beginResponse(_ fields: HeaderFields, on stream: HTTP2Stream) throws(HTTP2Error) {
    try submitHead(fields, on: stream, hasBody: true)
  }

  /// Opens a stream with a request; the body follows with ``write(_:ending:on:)`` unless there is none.
  package func request(_ fields: HeaderFields, hasBody: Bool) throws(HTTP2Error) -> HTTP2Stream {
    let stream = pool.take(id: 0)
    let id = unsafe withNameValues(fields) { names, count in
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

  /// Adds bytes to a stream's body.
  package func write(_ bytes: some Collection<UInt8>, ending: Bool, on stream: HTTP2Stream) {
    stream.write(bytes, ending: ending)
    resume(stream)
  }

  /// Adds bytes to a stream's body, of which no copy is made when nothing else waits.
  package func write(_ bytes: consuming [UInt8], ending: Bool, on stream: HTTP2Stream) {
    stream.write(bytes, ending: ending)
    resume(stream)
  }

  private func resume(_ stream: HTTP2Stream) {
    guard stream.isDeferred else { return }
    stream.isDeferred = false
    unsafe nghttp2_session_resume_data(handle, stream.id)
  }

  /// Ends a stream at once (RFC 9113 §6.4).
  package func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    unsafe nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
  }

  /// Ends a stream at once with any code.
  package func reset(_ stream: HTTP2Stream, code: UInt32) {
    unsafe nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code)
  }

  /// Says that no stream after the ones received will be taken (RFC 9113 §6.8), with a reason for people.
  package func goAway(_ code: HTTP2ErrorCode = .noError, debugData: [UInt8]) {
    let last = unsafe nghttp2_session_get_last_proc_stream_id(handle)
    unsafe nghttp2_submit_goaway(
      handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code.rawValue, debugData, debugData.count)
  }

  /// Tells the peer of another number of streams that it may have open.
  package func announce(maximumStreams: Int) {
    var entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(maximumStreams))
    unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
    unacknowledgedSettings += 1
  }

  /// Tells the peer of another window that each of its streams begins with, in bytes (RFC 9113 §6.9.2).
  package func announce(streamWindow: Int) {
    var entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(streamWindow))
    unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
    unacknowledgedSettings += 1
  }

  /// Asks whether the peer is alive.
  package func ping() {
    unsafe nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Announces every open stream as closed: the connection is gone, and nghttp2 will not say so.
  package func abandon() {
    while let stream = open.last { close(stream, errorCode: HTTP2ErrorCode.cancel.rawValue) }
  }

  // MARK: Inside

  private func submitSettings(maximumStreams: Int) throws(HTTP2Error) {
    // What the real service sends (reference §5.2), so that no client meets a value for the first time here.
    var settings = [
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue), value: 4096),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
        value: UInt32(maximumStreams)),
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_FRAME_SIZE.rawValue), value: 16384),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
        value: UInt32(Limits.announcedHeaderListSize)),
    ]
    if role == .client {
      settings = [nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)]
    }
    try HTTP2Error.check(
      unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count))
    unacknowledgedSettings = 1
    // One provider library writes a body in a single call and waits a second when the window is short.
    try HTTP2Error.check(
      unsafe nghttp2_session_set_local_window_size(
        handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(Limits.connectionWindowSize)))
  }

  private func submitHead(_ fields: HeaderFields, on stream: HTTP2Stream, hasBody: Bool) throws(HTTP2Error) {
    stream.hasSubmittedHead = true
    let code = unsafe withNameValues(fields) { names, count in
      guard hasBody else { return unsafe nghttp2_submit_response(handle, stream.id, names, count, nil) }
      var provider = unsafe stream.dataProvider
      return unsafe nghttp2_submit_response(handle, stream.id, names, count, &provider)
    }
    try HTTP2Error.check(code)
  }

  /// Lends the fields in nghttp2's form, without allocating.
  private func withNameValues(
    _ fields: HeaderFields, _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Int32
  ) -> Int32 {
    unsafe fields.bytes.withUnsafeBufferPointer { bytes in
      unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.fields.count) { list in
        let base = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress)
        for (index, field) in fields.fields.enumerated() {
          // Its first value takes the name into the peer's table, from where it costs a byte (RFC 7541 §6.2.2).
          let isUnindexed = field.isUnindexed && sentNames & field.token.bit != 0
          sentNames |= field.token.bit
          let flags = isUnindexed ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
          unsafe list.initializeElement(
            at: index,
            to: nghttp2_nv(
              name: base.map { unsafe $0 + field.name.lowerBound },
              value: base.map { unsafe $0 + field.value.lowerBound },
              namelen: field.name.count, valuelen: field.value.count, flags: UInt8(flags.rawValue)))
        }
        return unsafe body(UnsafePointer(list.baseAddress), fields.fields.count)
      }
    }
  }

  private func add(_ stream: HTTP2Stream) {
    stream.place = open.count
    open.append(stream)
  }

  private func close(_ stream: HTTP2Stream, errorCode: UInt32) {
    release(stream)
    let isWhole = stream.isInboundEnded && errorCode == HTTP2ErrorCode.noError.rawValue
    let end: ClosedStreams.End = isWhole ? .whole : stream.id == peerResetID ? .reset : .ours
    delegate?.session(self, closed: stream, errorCode: errorCode)
    stream.consumer?.closed()
    if role == .server { closedStreams.note(stream.id, end) }
    let last = open.removeLast()
    if last !== stream {
      open[stream.place] = last
      last.place = stream.place
    }
    if !drainedStreams.isEmpty { drainedStreams.removeAll { $0 === stream } }
    if newestID == stream.id { (newestID, unsafe newest) = (0, nil) }
    // An abandoned session keeps its number: an answer that comes late must not find a stream that serves another.
    unsafe nghttp2_session_set_stream_user_data(handle, stream.id, nil)
    pool.give(stream)
    checkInvariants()
  }

  // MARK: Invariants

  /// What of the open streams does not fit; nil when all does.
  package func brokenInvariant() -> String? {
    for (place, stream) in open.enumerated() {
      if stream.id == 0 { return "a stream that is over is among the open ones" }
      if stream.place != place { return "stream \(stream.id) is at \(place), and says \(stream.place)" }
    }
    let held = open.reduce(0) { $0 + $1.incompleteSize }
    if held != incompleteSize { return "\(held) bytes are incomplete, and \(incompleteSize) are counted" }
    let isNewestOpen = newestID == 0 || open.contains { $0.id == newestID }
    return isNewestOpen ? nil : "stream \(newestID) is over, and the newest"
  }

  /// Ends a debug build in which something does not fit; a release build has no trace of this. What would take long to
  /// look through is not, since this follows each end of a stream.
  private func checkInvariants() {
    assert(open.count > 64 || brokenInvariant() == nil, brokenInvariant() ?? "")
  }
}

// MARK: What nghttp2 tells, each called by its trampoline in HTTP2Callbacks

extension HTTP2Session {
  /// HEADERS begin. On a stream that is over they end the connection (RFC 9113 §5.1): nghttp2 keeps no such streams, and
  /// drops what comes on one without a word.
  package func beginsHeaders(on id: Int32) {
    guard role == .server, id != newestID, id <= highestID, id & 1 == 1, stream(id) == nil else { return }
    switch closedStreams.end(of: id) {
    // Trailers that were under way when the gateway reset the stream.
    case .ours: break
    case .reset, .whole: terminate(.streamClosed)
    // One that never began is closed by each that began after it (§5.1.1).
    case nil: terminate(.protocolError)
    }
  }

  /// DATA begin, of which nghttp2 tells nothing when their stream is over. Clients whose threads race are known to send some
  /// after RST_STREAM: the others of their streams must not suffer.
  private func beginsData(on id: Int32) {
    guard id <= highestID, id & 1 == 1, stream(id) == nil else { return }
    switch closedStreams.end(of: id) {
    case .reset:
      unsafe nghttp2_submit_rst_stream(
        handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, HTTP2ErrorCode.streamClosed.rawValue)
      spendReset()
    case .whole: terminate(.streamClosed)
    // What was under way when the gateway reset the stream; or it is over for so long that nobody knows.
    case .ours, nil: break
    }
  }

  /// Says GOAWAY with an error, and hears nothing any more.
  private func terminate(_ code: HTTP2ErrorCode) { unsafe nghttp2_session_terminate_session(handle, code.rawValue) }

  package func began(_ id: Int32) {
    guard role == .server else { return }
    let stream = pool.take(id: id)
    unsafe nghttp2_session_set_stream_user_data(handle, id, stream.opaque)
    add(stream)
    (newestID, unsafe newest) = (id, unsafe .passUnretained(stream))
    highestID = id
  }

  /// - Returns: false when the stream's fields are more than are taken: the rest of them is not heard of.
  package func field(
    _ id: Int32, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isHead: Bool
  ) -> Bool {
    // Nothing here ends the stream, so nobody counts references.
    if isHead, id == newestID, let newest = unsafe newest {
      let isTaken = unsafe newest._withUnsafeGuaranteedRef { unsafe $0.message.receive(name, value) }
      return unsafe isTaken || excessFields(on: newest.takeUnretainedValue(), isHead: true)
    }
    guard let stream = stream(id) else { return true }
    let isTaken = unsafe isHead ? stream.message.receive(name, value) : stream.message.count(name, value)
    return isTaken || excessFields(on: stream, isHead: isHead)
  }

  /// Ends the connection when the fields are more than ``Limits/maximumDroppedHeaderListSize``: each costs a callback.
  ///
  /// - Returns: whether what is left of the head is still heard of, and dropped.
  private func excessFields(on stream: HTTP2Stream, isHead: Bool) -> Bool {
    if stream.message.fieldListSize > Limits.maximumDroppedHeaderListSize {
      terminate(.enhanceYourCalm)
      return false
    }
    if stream.message.hasExcessFields { return true }
    stream.message.hasExcessFields = true
    delegate?.session(self, exceeded: .headerList)
    if isHead, delegate?.session(self, answersExcessFieldsOn: stream) == true { return true }
    reset(stream, .enhanceYourCalm)
    return false
  }

  package func headComplete(_ id: Int32, isEnd: Bool) {
    guard let stream = stream(id) else { return }
    stream.hasHead = true
    delegate?.session(self, receivedHeadOn: stream)
    if isEnd { return end(stream) }
    if stream.message.expectsContinue, !stream.hasSubmittedHead, role == .server { sendContinue(on: stream) }
    if stream.consumer == nil { hold(stream.message.fieldsSize, of: stream) }
  }

  package func data(_ id: Int32, _ bytes: UnsafeRawBufferPointer) {
    guard let stream = stream(id) else { return }
    if let consumer = stream.consumer {
      unsafe consumer.received(bytes)
    } else {
      hold(unsafe stream.message.appendBody(bytes), of: stream)
    }
  }

  /// Says that the body may come (RFC 9110 §15.2.1): to those alone who asked.
  private func sendContinue(on stream: HTTP2Stream) {
    _ = unsafe withNameValues(HeaderFields(status: 100)) { names, count in
      unsafe nghttp2_submit_headers(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, nil, names, count, nil)
    }
  }

  /// Counts bytes that are kept of a message that is not complete.
  private func hold(_ size: Int, of stream: HTTP2Stream) {
    stream.incompleteSize += size
    incompleteSize += size
    guard incompleteSize > maximumIncompleteSize else { return }
    stream.message.maximumBodySize = 0
    release(stream)
    reset(stream, .enhanceYourCalm)
    delegate?.session(self, exceeded: .incompleteRequests)
  }

  /// A message is complete, or over.
  private func release(_ stream: HTTP2Stream) {
    incompleteSize -= stream.incompleteSize
    stream.incompleteSize = 0
  }

  package func dataEnded(_ id: Int32) {
    if let stream = stream(id) { end(stream) }
  }

  package func streamClosed(_ id: Int32, errorCode: UInt32) {
    guard let stream = stream(id) else { return }
    if errorCode != HTTP2ErrorCode.noError.rawValue, id != peerResetID { spendReset() }
    close(stream, errorCode: errorCode)
  }

  package func peerReset(_ id: Int32) {
    peerResetID = id
    peerResets += 1
    if peerResets - 1 == maximumPeerResets { delegate?.session(self, exceeded: .resets) }
  }

  package func refusedStream() {
    refusedStreams += 1
    if refusedStreams == Limits.maximumRefusedStreams + 1 { delegate?.session(self, exceeded: .refusedStreams) }
  }

  package func acknowledgedSettings() {
    unacknowledgedSettings -= 1
    settingsAge = 0
  }

  /// The gateway reset a stream, which happens while it sends.
  private func spendReset() {
    resetCredit -= 1
    if resetCredit == -1 { delegate?.session(self, exceeded: .resets) }
  }

  /// Time passes: ``Limits/tick`` seconds.
  ///
  /// - Returns: whether the peer has acknowledged SETTINGS in time.
  package func tick() -> Bool {
    resetCredit = min(Limits.maximumResets, resetCredit + Limits.resetsPerSecond * Limits.tick)
    settingsAge = unacknowledgedSettings > 0 ? settingsAge + 1 : 0
    return settingsAge * Limits.tick <= Limits.settingsTime
  }

  package func drained(_ stream: HTTP2Stream) {
    if stream.consumer != nil { drainedStreams.append(stream) }
  }

  private func end(_ stream: HTTP2Stream) {
    stream.isInboundEnded = true
    release(stream)
    if let consumer = stream.consumer { consumer.receivedEnd() }
    delegate?.session(self, receivedEndOn: stream)
  }
}

extension HTTP2Stream {
  /// The stream as nghttp2 holds it, unretained: the session keeps every open stream alive.
  fileprivate var opaque: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  /// The source that nghttp2 asks for the body.
  fileprivate var dataProvider: nghttp2_data_provider {
    unsafe nghttp2_data_provider(source: .init(ptr: opaque), read_callback: HTTP2Callbacks.readData)
  }
}
