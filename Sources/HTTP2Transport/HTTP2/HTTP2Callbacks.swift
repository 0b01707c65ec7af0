import CNGHTTP2
import PushCore

/// The nghttp2 callback table of the process. Each callback recovers the session and calls one method of the
/// extension below.
package enum HTTP2Callbacks {
  /// The callback table, created once; nghttp2 copies it into each session.
  package nonisolated(unsafe) static let table: OpaquePointer? = {
    var table: OpaquePointer?
    guard unsafe nghttp2_session_callbacks_new(&table) == 0 else { return nil }
    unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(table) { _, frame, context in
      guard let frame = unsafe frame else { return 0 }
      if unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST {
        unsafe with(context) { unsafe $0.began(frame.pointee.hd.stream_id) }
      }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_header_callback(table) {
      _, frame, name, nameSize, value, valueSize, _, context in
      guard let frame = unsafe frame else { return 0 }
      let isHead =
        unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
        || frame.pointee.headers.cat == NGHTTP2_HCAT_RESPONSE
      let isTaken = unsafe with(context) { session in
        unsafe session.field(
          frame.pointee.hd.stream_id, UnsafeRawBufferPointer(start: name, count: nameSize),
          UnsafeRawBufferPointer(start: value, count: valueSize), isHead: isHead)
      }
      return isTaken ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    unsafe nghttp2_session_callbacks_set_on_begin_frame_callback(table) { _, header, context in
      guard let header = unsafe header else { return 0 }
      if unsafe UInt32(header.pointee.type) == NGHTTP2_HEADERS.rawValue {
        unsafe with(context) { unsafe $0.beginsHeaders(on: header.pointee.stream_id) }
      }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(table) { _, frame, code, context in
      if code == NGHTTP2_ERR_REFUSED_STREAM.rawValue { unsafe with(context) { $0.refusedStream() } }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(table) { _, frame, context in
      guard let frame = unsafe frame else { return 0 }
      unsafe with(context) { unsafe frameReceived(frame, $0) }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table) { _, _, id, data, size, context in
      unsafe with(context) { unsafe $0.data(id, UnsafeRawBufferPointer(start: data, count: size)) }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback(table) { _, id, code, context in
      unsafe with(context) { $0.streamClosed(id, errorCode: code) }
      return 0
    }
    return unsafe table
  }()

  /// Returns the nghttp2 options of a server's or a client's session.
  package static func options(of role: HTTP2Session.Role) -> OpaquePointer? {
    switch role {
    case .server: unsafe serverOptions
    case .client: unsafe clientOptions
    }
  }

  nonisolated(unsafe) private static let serverOptions: OpaquePointer? = {
    var options: OpaquePointer?
    guard unsafe nghttp2_option_new(&options) == 0 else { return nil }
    // Responses have few names to index, and each connection would allocate 4 KiB for the table.
    unsafe nghttp2_option_set_max_deflate_dynamic_table_size(options, 1024)
    // Otherwise nghttp2 keeps as many closed streams as may be open, for the priorities of RFC 7540, which RFC 9113
    // deprecates.
    unsafe nghttp2_option_set_no_closed_streams(options, 1)
    unsafe nghttp2_option_set_max_outbound_ack(options, Limits.maximumWaitingAcknowledgements)
    unsafe nghttp2_option_set_max_settings(options, Limits.maximumSettings)
    unsafe HTTP2Library.limit(options)
    return unsafe options
  }()

  nonisolated(unsafe) private static let clientOptions: OpaquePointer? = {
    var options: OpaquePointer?
    guard unsafe nghttp2_option_new(&options) == 0 else { return nil }
    // The limit until the gateway's SETTINGS arrive.
    unsafe nghttp2_option_set_peer_max_concurrent_streams(options, 100)
    return unsafe options
  }()

  /// Fills a DATA frame from the stream's pending bytes.
  static let readData: nghttp2_data_source_read_callback = { _, _, frame, size, flags, source, context in
    guard let frame = unsafe frame, let source = unsafe source, let flags = unsafe flags else { return 0 }
    let stream = unsafe Unmanaged<HTTP2Stream>.fromOpaque(source.pointee.ptr).takeUnretainedValue()
    if stream.outboundSize == 0, !stream.isOutboundEnded {
      stream.isDeferred = true
      return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    }
    let (count, isEnd) = unsafe stream.read(into: UnsafeMutableRawBufferPointer(start: frame, count: size))
    unsafe with(context) { $0.recount(stream) }
    if isEnd { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    if stream.outboundSize == 0, !isEnd { unsafe with(context) { $0.drained(stream) } }
    return count
  }

  /// Passes the session of a call to `body`, without reference counting: the session outlives the call.
  @inline(__always)
  private static func with<Value>(_ context: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Value) -> Value {
    guard let context = unsafe context else { preconditionFailure("a callback without its session") }
    return unsafe Unmanaged<HTTP2Session>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
  }

  private static func frameReceived(_ frame: UnsafePointer<nghttp2_frame>, _ session: HTTP2Session) {
    let header = unsafe frame.pointee.hd
    let isEnd = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    let isAcknowledgement = header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
    switch UInt32(header.type) {
    case NGHTTP2_HEADERS.rawValue:
      let category = unsafe frame.pointee.headers.cat
      if category == NGHTTP2_HCAT_HEADERS {
        if isEnd { session.dataEnded(header.stream_id) }
      } else {
        session.headComplete(header.stream_id, isEnd: isEnd)
      }
    case NGHTTP2_DATA.rawValue:
      if isEnd { session.dataEnded(header.stream_id) }
    case NGHTTP2_RST_STREAM.rawValue:
      session.peerReset(header.stream_id)
    case NGHTTP2_SETTINGS.rawValue:
      if isAcknowledgement {
        session.acknowledgedSettings()
      } else {
        session.delegate?.sessionReceivedSettings(session)
      }
    case NGHTTP2_PING.rawValue:
      guard isAcknowledgement else { return }
      let number = unsafe withUnsafeBytes(of: frame.pointee.ping.opaque_data) { unsafe $0.load(as: UInt64.self) }
      session.delegate?.session(session, receivedPong: number)
    case NGHTTP2_GOAWAY.rawValue:
      let goAway = unsafe frame.pointee.goaway
      let text = unsafe [UInt8](UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len))
      session.delegate?.session(session, goingAwayAfter: unsafe goAway.last_stream_id, debugData: text)
    default:
      break
    }
  }
}

// MARK: The events, each called by its callback

extension HTTP2Session {
  /// Handles the beginning of HEADERS. On a closed stream they end the connection (RFC 9113 §5.1): nghttp2 keeps no
  /// closed streams, and drops their frames without notification.
  package func beginsHeaders(on id: Int32) {
    guard role == .server, id != newestID, id <= highestID, id & 1 == 1, stream(id) == nil else { return }
    switch closedStreams.end(of: id) {
    // Trailers that were sent before the client received the gateway's reset of the stream.
    case .ours: break
    case .reset, .whole: terminate(.streamClosed)
    // A stream that never began is closed by each stream with a higher ID (§5.1.1).
    case nil: terminate(.protocolError)
    }
  }

  /// Handles the beginning of DATA, which nghttp2 does not report on a closed stream. Clients with racing threads are
  /// known to send some after RST_STREAM: their other streams must not be affected.
  func beginsData(on id: Int32) {
    guard id <= highestID, id & 1 == 1, stream(id) == nil else { return }
    switch closedStreams.end(of: id) {
    case .reset:
      unsafe nghttp2_submit_rst_stream(
        handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, HTTP2ErrorCode.streamClosed.rawValue)
      spendReset()
    case .whole: terminate(.streamClosed)
    // DATA that was sent before the client received the gateway's reset, or the stream closed too long ago to be
    // stored.
    case .ours, nil: break
    }
  }

  /// Submits GOAWAY with an error, and processes no further input.
  private func terminate(_ code: HTTP2ErrorCode) { unsafe nghttp2_session_terminate_session(handle, code.rawValue) }

  package func began(_ id: Int32) {
    guard role == .server else { return }
    let stream = pool.take(id: id)
    unsafe nghttp2_session_set_stream_user_data(handle, id, stream.opaque)
    add(stream)
    recount(stream)
    (newestID, unsafe newest) = (id, unsafe .passUnretained(stream))
    highestID = id
  }

  /// Processes one field of a stream.
  ///
  /// - Returns: false if the stream's fields exceed the limit: its remaining fields are not reported.
  package func field(
    _ id: Int32, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isHead: Bool
  ) -> Bool {
    // Nothing in this call ends the stream, so no reference counting is needed.
    if isHead, id == newestID, let newest = unsafe newest {
      let isTaken = unsafe newest._withUnsafeGuaranteedRef { unsafe $0.message.receive(name, value) }
      return unsafe isTaken || excessFields(on: newest.takeUnretainedValue(), isHead: true)
    }
    guard let stream = stream(id) else { return true }
    let isTaken = unsafe isHead ? stream.message.receive(name, value) : stream.message.count(name, value)
    return isTaken || excessFields(on: stream, isHead: isHead)
  }

  /// Handles excess fields. Ends the connection if they exceed ``Limits/maximumDroppedHeaderListSize``: each field
  /// costs a callback.
  ///
  /// - Returns: true if the remaining fields of the head are still reported, and dropped.
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
    if isOverShare { return drop(stream, .refusedStream, for: .keptSize) }
    delegate?.session(self, receivedHeadOn: stream)
    recount(stream)
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

  /// Submits status 100 (RFC 9110 §15.2.1), only for clients that expect it.
  private func sendContinue(on stream: HTTP2Stream) {
    _ = unsafe sentNames.withNameValues(HeaderFields(status: 100)) { names, count in
      unsafe nghttp2_submit_headers(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, nil, names, count, nil)
    }
  }

  /// Counts stored bytes of an incomplete message.
  private func hold(_ size: Int, of stream: HTTP2Stream) {
    guard size > 0 else { return }
    stream.incompleteSize += size
    incompleteSize += size
    recount(stream)
    if incompleteSize > maximumIncompleteSize {
      drop(stream, .enhanceYourCalm, for: .incompleteRequests)
    } else if isOverShare {
      drop(stream, .refusedStream, for: .keptSize)
    }
  }

  /// Resets a stream whose request exceeded a limit. Its remaining bytes are not stored, and its end is not served.
  private func drop(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode, for limit: TransportLimit) {
    stream.message.maximumBodySize = 0
    stream.hasSubmittedHead = true
    stream.isAbandoned = true
    release(stream)
    reset(stream, code)
    delegate?.session(self, exceeded: limit)
  }

  /// True if this session keeps more than its share, and the sessions of its loop together keep too much.
  private var isOverShare: Bool { keptSize > keptShare && pool.isFull }

  /// Updates the number of bytes that a stream keeps, after a change of the stream.
  func recount(_ stream: HTTP2Stream) {
    // A stream that its owner has just ended is in the pool.
    guard stream.id != 0 else { return }
    let isCounted = stream.consumer == nil
    count(stream, as: isCounted ? Limits.streamSize + stream.incompleteSize + stream.outboundSize : 0)
  }

  func count(_ stream: HTTP2Stream, as size: Int) {
    let change = size - stream.keptSize
    stream.keptSize = size
    keptSize += change
    pool.keptSize += change
  }

  /// Stops counting the bytes of a message that is complete, or whose stream is over.
  func release(_ stream: HTTP2Stream) {
    incompleteSize -= stream.incompleteSize
    stream.incompleteSize = 0
    recount(stream)
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
    if costs.addPeerReset(maximum: maximumPeerResets) { delegate?.session(self, exceeded: .resets) }
  }

  package func refusedStream() {
    if costs.addRefusedStream() { delegate?.session(self, exceeded: .refusedStreams) }
  }

  package func acknowledgedSettings() { costs.acknowledgedSettings() }

  /// Counts a stream that the gateway reset, which happens while it sends.
  private func spendReset() {
    if costs.addReset() { delegate?.session(self, exceeded: .resets) }
  }

  /// Handles that ``Limits/tick`` seconds have passed.
  ///
  /// - Returns: true if the peer has acknowledged SETTINGS in time.
  package func tick() -> Bool { costs.tick() }

  package func drained(_ stream: HTTP2Stream) {
    if stream.consumer != nil { drainedStreams.append(stream) }
  }

  private func end(_ stream: HTTP2Stream) {
    stream.isInboundEnded = true
    release(stream)
    if let consumer = stream.consumer { consumer.receivedEnd() }
    delegate?.session(self, receivedEndOn: stream)
    recount(stream)
  }
}

extension HTTP2Stream {
  /// The stream as a pointer for nghttp2, unretained: the session retains every open stream.
  var opaque: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  /// The data source that nghttp2 reads for the body.
  var dataProvider: nghttp2_data_provider {
    unsafe nghttp2_data_provider(source: .init(ptr: opaque), read_callback: HTTP2Callbacks.readData)
  }
}
