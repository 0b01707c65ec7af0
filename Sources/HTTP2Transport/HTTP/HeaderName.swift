import PushCore

/// The header fields this gateway reads or sends, as tokens; every other field is ignored (APNs does so too).
///
/// Names are matched as bytes the moment they arrive, so that none becomes a `String`.
package enum HeaderName: UInt8, Sendable, CaseIterable {
  case method, path, scheme, authority, status
  case accept, authorization, contentLength, contentType, expect, host, lastEventID, userAgent
  case apnsChannelID, apnsCollapseID, apnsExpiration, apnsID, apnsPriority, apnsPushType, apnsRequestID, apnsTopic
  case apnsUniqueID

  /// The name on the wire, in lower case as RFC 9113 §8.2 requires.
  package var wireName: StaticString {
    switch self {
    case .method: ":method"
    case .path: ":path"
    case .scheme: ":scheme"
    case .authority: ":authority"
    case .status: ":status"
    case .accept: "accept"
    case .authorization: "authorization"
    case .contentLength: "content-length"
    case .contentType: "content-type"
    case .expect: "expect"
    case .host: "host"
    case .lastEventID: "last-event-id"
    case .userAgent: "user-agent"
    case .apnsChannelID: "apns-channel-id"
    case .apnsCollapseID: "apns-collapse-id"
    case .apnsExpiration: "apns-expiration"
    case .apnsID: "apns-id"
    case .apnsPriority: "apns-priority"
    case .apnsPushType: "apns-push-type"
    case .apnsRequestID: "apns-request-id"
    case .apnsTopic: "apns-topic"
    case .apnsUniqueID: "apns-unique-id"
    }
  }

  /// A bit for each name, for sets of them.
  package var bit: UInt32 { 1 << UInt32(rawValue) }

  /// Whether a second field of this name is `DuplicateHeaders`.
  package var mustBeSingle: Bool { self == .authorization || rawValue >= HeaderName.apnsChannelID.rawValue }

  /// Whether it says anything to this gateway when it arrives; the others are only sent.
  package var isRead: Bool {
    switch self {
    case .scheme, .authority, .host, .accept, .contentLength, .contentType: false
    default: true
    }
  }

  /// The token of a name as it arrived, or nil for one that this gateway does not read.
  package init?(_ name: UnsafeRawBufferPointer) {
    guard name.count > 0, let candidate = unsafe HeaderName.places[HeaderName.place(of: name)],
      unsafe name.equals(candidate.wireName)
    else { return nil }
    self = candidate
  }

  /// Each name in a place of its own, so that a look-up compares one.
  private static let places: [HeaderName?] = {
    var places = [HeaderName?](repeating: nil, count: 64)
    for name in allCases where name.isRead {
      let wire = name.wireName
      let place = unsafe place(of: UnsafeRawBufferPointer(start: wire.utf8Start, count: wire.utf8CodeUnitCount))
      precondition(places[place] == nil, "two names in one place: choose another factor")
      places[place] = name
    }
    return places
  }()

  /// The length and the byte in the middle tell all names apart.
  private static func place(of name: UnsafeRawBufferPointer) -> Int {
    unsafe (name.count + 19 * Int(name[name.count / 2])) & 63
  }
}
