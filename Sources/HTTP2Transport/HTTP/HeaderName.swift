import PushCore

/// The header fields that the gateway reads or sends, as tokens; all other fields are ignored, as by APNs.
///
/// Names are compared as bytes on arrival, so that none becomes a `String`.
package enum HeaderName: UInt8, Sendable, CaseIterable {
  case method, path, scheme, authority, status
  case accept, authorization, contentLength, contentType, cookie, expect, fetchSite, host, ifNoneMatch, lastEventID
  case origin, retryAfter, traceparent, userAgent, via
  case apnsChannelID, apnsCollapseID, apnsExpiration, apnsID, apnsPriority, apnsPushType, apnsRequestID, apnsTopic
  case apnsUniqueID
  /// The time at which a push is to be delivered: an extension of this gateway.
  case apnsDeliverAt
  /// The declaration of a push as marketing, and the news that the recipient has unsubscribed: an extension, too.
  case apnsMarketing

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
    case .cookie: "cookie"
    case .expect: "expect"
    case .fetchSite: "sec-fetch-site"
    case .host: "host"
    case .ifNoneMatch: "if-none-match"
    case .lastEventID: "last-event-id"
    case .origin: "origin"
    case .retryAfter: "retry-after"
    case .traceparent: "traceparent"
    case .userAgent: "user-agent"
    case .via: "via"
    case .apnsChannelID: "apns-channel-id"
    case .apnsCollapseID: "apns-collapse-id"
    case .apnsExpiration: "apns-expiration"
    case .apnsID: "apns-id"
    case .apnsPriority: "apns-priority"
    case .apnsPushType: "apns-push-type"
    case .apnsRequestID: "apns-request-id"
    case .apnsTopic: "apns-topic"
    case .apnsUniqueID: "apns-unique-id"
    case .apnsDeliverAt: "apns-deliver-at"
    case .apnsMarketing: "apns-marketing"
    }
  }

  /// The bit of the name in sets of names.
  package var bit: UInt32 { 1 << UInt32(rawValue) }

  /// True if a second field with this name is the error `DuplicateHeaders`.
  package var mustBeSingle: Bool { self == .authorization || rawValue >= HeaderName.apnsChannelID.rawValue }

  /// Creates the token of a received name; nil for a name that the gateway does not read.
  @inline(__always)
  package init?(_ name: UnsafeRawBufferPointer) {
    guard name.count > 0,
      let candidate = unsafe HeaderName.candidate(length: name.count, middle: name[name.count / 2])
    else { return nil }
    if unsafe name.equals(candidate.wireName) {
      self = candidate
    } else if candidate == .expect, unsafe name.equals(HeaderName.accept.wireName) {
      self = .accept
    } else {
      return nil
    }
  }

  /// Returns the name with this length and this middle byte. `accept` shares both with `expect`.
  @inline(__always)
  private static func candidate(length: Int, middle: UInt8) -> HeaderName? {
    switch (length, Unicode.Scalar(middle)) {
    case (3, "i"): .via
    case (5, "a"): .path
    case (6, "e"): .expect
    case (6, "g"): .origin
    case (6, "k"): .cookie
    case (7, "a"): .status
    case (7, "s"): .apnsID
    case (7, "t"): .method
    case (10, "a"): .userAgent
    case (10, "o"): .authority
    case (10, "t"): .apnsTopic
    case (11, "-"): .retryAfter
    case (11, "p"): .traceparent
    case (13, "e"): .ifNoneMatch
    case (13, "i"): .authorization
    case (13, "r"): .apnsPriority
    case (13, "v"): .lastEventID
    case (14, "c"): .fetchSite
    case (14, "i"): .apnsUniqueID
    case (14, "r"): .apnsMarketing
    case (14, "s"): .apnsPushType
    case (15, "a"): .apnsChannelID
    case (15, "l"): .apnsDeliverAt
    case (15, "p"): .apnsExpiration
    case (15, "q"): .apnsRequestID
    case (16, "l"): .apnsCollapseID
    default: nil
    }
  }
}
