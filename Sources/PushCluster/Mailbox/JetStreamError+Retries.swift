package import NATSClient

extension JetStreamError {
  /// True if the same request may succeed a moment later.
  package var mayPass: Bool {
    switch self {
    case .link(.closed), .malformed: false
    case .link: true
    case .refused(let status, let code, _): status == 503 || code == .noSuitablePeers
    }
  }

  /// True if the request may have been executed.
  var leavesDoubt: Bool {
    switch self {
    case .link(.noResponders): false
    case .refused(let status, _, _): status == 503
    case .link, .malformed: true
    }
  }
}
