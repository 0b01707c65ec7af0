import CNGHTTP2
import PushCore

/// The SETTINGS that a session sends (RFC 9113 §6.5).
enum HTTP2Settings {
  /// Returns the first SETTINGS of a session.
  static func initial(isServer: Bool, maximumStreams: Int) -> [nghttp2_settings_entry] {
    guard isServer else {
      return [nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)]
    }
    // The settings that the real service sends (APNs reference §5.2), so that a client finds no unfamiliar values.
    return [
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue), value: 4096),
      HTTP2Settings.maximumStreams(maximumStreams),
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_FRAME_SIZE.rawValue), value: 16384),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
        value: UInt32(Limits.announcedHeaderListSize)),
    ]
  }

  /// Returns the setting of the maximum number of open streams.
  static func maximumStreams(_ number: Int) -> nghttp2_settings_entry {
    nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(number))
  }

  /// Returns the setting of the initial window of each stream, in bytes (RFC 9113 §6.9.2).
  static func streamWindow(_ size: Int) -> nghttp2_settings_entry {
    nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(size))
  }
}
