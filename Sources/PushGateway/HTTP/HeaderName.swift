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

  /// Whether a second field of this name is `DuplicateHeaders`.
  var mustBeSingle: Bool { self == .authorization || rawValue >= HeaderName.apnsChannelID.rawValue }

  /// The token of a name as it arrived, or nil for one that this gateway does not read.
  init?(_ name: UnsafeRawBufferPointer) {
    for candidate in HeaderName.byLength[min(name.count, HeaderName.maximumLength + 1)] {
      let wire = candidate.wireName
      if unsafe name.elementsEqual(UnsafeBufferPointer(start: wire.utf8Start, count: wire.utf8CodeUnitCount)) {
        self = candidate
        return
      }
    }
    return nil
  }

  private static let maximumLength = 16

  /// The names of each length; the last place, for names longer than any of ours, stays empty.
  private static let byLength: [[HeaderName]] = {
    var table = [[HeaderName]](repeating: [], count: maximumLength + 2)
    for name in allCases { table[name.wireName.utf8CodeUnitCount].append(name) }
    return table
  }()
}
