import CNGHTTP2
import PushCore

/// The nghttp2 callback table of the process. Each callback recovers the session and calls one method.
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
      if isAcknowledgement { session.delegate?.sessionReceivedPong(session) }
    case NGHTTP2_GOAWAY.rawValue:
      let goAway = unsafe frame.pointee.goaway
      let text = unsafe [UInt8](UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len))
      session.delegate?.session(session, goingAwayAfter: unsafe goAway.last_stream_id, debugData: text)
    default:
      break
    }
  }
}
