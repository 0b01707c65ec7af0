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
    func isSame(_ candidate: HeaderName) -> HeaderName? { unsafe name.equals(candidate.wireName) ? candidate : nil }
    // By length, those that every push has first.
    let found: HeaderName? =
      switch name.count {
      case 4: isSame(.host)
      case 5: isSame(.path)
      case 6: isSame(.accept)
      case 7: isSame(.method) ?? isSame(.apnsID) ?? isSame(.scheme) ?? isSame(.status)
      case 10: isSame(.apnsTopic) ?? isSame(.authority)
      case 12: isSame(.contentType)
      case 13: isSame(.authorization) ?? isSame(.apnsPriority) ?? isSame(.lastEventID)
      case 14: isSame(.apnsPushType) ?? isSame(.contentLength) ?? isSame(.apnsUniqueID)
      case 15: isSame(.apnsExpiration) ?? isSame(.apnsRequestID) ?? isSame(.apnsChannelID)
      case 16: isSame(.apnsCollapseID)
      default: nil
      }
    guard let found else { return nil }
    self = found
  }
}
