/// A limit that a peer exceeded; its raw value is its name in logs and counters.
package enum TransportLimit: String, Sendable, CaseIterable {
  /// ``Limits/maximumHeaderListSize``
  case headerList = "header-list"
  /// ``Limits/maximumUnauthenticatedSize``, ``Limits/maximumIncompleteSize``
  case incompleteRequests = "incomplete-requests"
  /// ``Limits/maximumKeptSize``
  case keptSize = "kept-size"
  /// ``Limits/maximumResets``, ``Limits/maximumUnauthenticatedResets``
  case resets
  /// ``Limits/maximumRefusedStreams``
  case refusedStreams = "refused-streams"
  /// ``Limits/maximumWaitingFrames``
  case waitingFrames = "waiting-frames"
  /// ``Limits/unreadTime``
  case unreadTime = "unread-time"
  /// ``Limits/settingsTime``
  case settingsTime = "settings-time"
  /// ``Limits/requestTime``
  case requestTime = "request-time"
  /// ``Limits/firstRequestTime``
  case firstRequestTime = "first-request-time"
  /// ``Limits/maximumAddressConnections``
  case addressConnections = "address-connections"
  /// ``Limits/unauthenticatedShare``
  case unauthenticatedConnections = "stranger-connections"
  /// ``Limits/reservedDescriptors``
  case descriptors
  /// ``ProxyHeader``
  case proxyHeader = "proxy-header"
  /// ``Limits/maximumControlRequests``
  case controlRequests = "control-requests"
  /// ``Limits/maximumWaitingAnswers``
  case waitingAnswers = "waiting-answers"
  /// ``Limits/maximumRunningRequests``
  case runningRequests = "running-requests"

  /// A short description of the limit.
  package var words: String {
    switch self {
    case .headerList: "header list"
    case .incompleteRequests: "incomplete requests"
    case .keptSize: "memory of incomplete requests and unread responses"
    case .resets: "streams reset because of the peer's frames"
    case .refusedStreams: "refused streams"
    case .waitingFrames: "frames queued for sending"
    case .unreadTime: "no data read for 30 s"
    case .settingsTime: "time to acknowledge SETTINGS"
    case .requestTime: "time for a request"
    case .firstRequestTime: "time to the first request"
    case .addressConnections: "connections of one address"
    case .unauthenticatedConnections: "connections in all"
    case .descriptors: "too few descriptors left"
    case .proxyHeader: "connections from `balancers` without a PROXY header"
    case .controlRequests: "requests of one connection in progress"
    case .waitingAnswers: "responses that the peer has not read"
    case .runningRequests: "requests of the process in progress"
    }
  }
}
