/// The header fields this gateway reads, as tokens; every other field is ignored (APNs does so too).
///
/// Names are matched as bytes the moment they arrive, so that none becomes a `String`.
enum HeaderName: UInt8, Sendable, CaseIterable {
  case method, path, scheme, authority, status
  case accept, authorization, contentLength, contentType, host, lastEventID
  case apnsChannelID, apnsCollapseID, apnsExpiration, apnsID, apnsPriority, apnsPushType, apnsRequestID, apnsTopic
  case apnsUniqueID

  /// The name on the wire, in lower case as RFC 9113 §8.2 requires.
  var wireName: StaticString {
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
    case .host: "host"
    case .lastEventID: "last-event-id"
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
  var bit: UInt32 { 1 << UInt32(rawValue) }

  /// Whether a second field of this name is `DuplicateHeaders`.
  var mustBeSingle: Bool { self == .authorization || rawValue >= HeaderName.apnsChannelID.rawValue }

  /// The token of a name as it arrived, or nil for one that this gateway does not read.
  init?(_ name: UnsafeRawBufferPointer) {
    // Length and last byte leave one candidate in nearly every case.
    let candidate: HeaderName
    switch unsafe (name.count, name.last) {
    case (4, _): candidate = .host
    case (5, _): candidate = .path
    case (6, _): candidate = .accept
    case (7, UInt8(ascii: "d")): candidate = unsafe name.first == UInt8(ascii: ":") ? .method : .apnsID
    case (7, UInt8(ascii: "e")): candidate = .scheme
    case (7, _): candidate = .status
    case (10, UInt8(ascii: "c")): candidate = .apnsTopic
    case (10, _): candidate = .authority
    case (12, _): candidate = .contentType
    case (13, UInt8(ascii: "n")): candidate = .authorization
    case (13, UInt8(ascii: "y")): candidate = .apnsPriority
    case (13, _): candidate = .lastEventID
    case (14, UInt8(ascii: "e")): candidate = .apnsPushType
    case (14, UInt8(ascii: "d")): candidate = .apnsUniqueID
    case (14, _): candidate = .contentLength
    case (15, UInt8(ascii: "n")): candidate = .apnsExpiration
    case (15, _): candidate = unsafe name[5] == UInt8(ascii: "r") ? .apnsRequestID : .apnsChannelID
    case (16, _): candidate = .apnsCollapseID
    default: return nil
    }
    guard unsafe name.equals(candidate.wireName) else { return nil }
    self = candidate
  }
}
