import CNGHTTP2

/// An error of an HTTP/2 connection, with the code of nghttp2.
package struct HTTP2Error: Error, CustomStringConvertible {
  /// An `nghttp2_error` value.
  package var code: Int32

  /// True if the connection has no stream number left for another request; another connection can send it.
  package var isOutOfStreams: Bool { code == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE.rawValue }

  package var description: String {
    unsafe "HTTP/2: " + String(cString: nghttp2_strerror(code))
  }

  /// Throws if a library call returned an error.
  @discardableResult
  package static func check(_ code: Int32) throws(HTTP2Error) -> Int32 {
    if code < 0 { throw HTTP2Error(code: code) }
    return code
  }
}

/// Error codes of RFC 9113 §7 that the gateway sends.
package enum HTTP2ErrorCode: UInt32, Sendable {
  case noError = 0x0
  case protocolError = 0x1
  case settingsTimeout = 0x4
  case streamClosed = 0x5
  case refusedStream = 0x7
  case cancel = 0x8
  case enhanceYourCalm = 0xb
}
