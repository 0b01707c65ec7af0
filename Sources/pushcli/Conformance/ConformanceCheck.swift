/// The checks of a client, in their order.
enum ConformanceCheck: String, CaseIterable {
  case joins, acknowledges, burst, large, pieces, unknown, badge, retraction
  case storesFirst = "stores-first"
  case showsOnce = "shows-once"
  case absence
  case streamEnd = "stream-end"
  case goAway = "goaway"
  case restart, backoff
  case acknowledgesOnce = "acknowledges-once"
  case removal

  /// The number of times that a client is killed in a check.
  static let kills = 3
  /// The number of pushes of ``burst``.
  static let burstSize = 50
  /// The time in which the attempts of a refused client are counted.
  static let refusalTime = Duration.seconds(3)
  /// The maximum number of attempts in this time.
  static let maximumAttempts = 10

  /// The expected behavior, in one clause.
  var expectation: String {
    switch self {
    case .joins: "the client enrolls with the invitation, registers for the app, and opens a stream"
    case .acknowledges: "a push is shown, then acknowledged"
    case .burst: "\(ConformanceCheck.burstSize) pushes that arrive together are each shown once and acknowledged"
    case .large: "a push with the largest payload is shown and acknowledged"
    case .pieces: "lines that arrive in pieces, cut within characters, are read as whole lines"
    case .unknown: "lines of unknown types and unknown members are ignored, and the stream stays open"
    case .badge: "the badge of a push is reported, also the badge 0"
    case .retraction: "a push that the sender retracts is reported as retracted"
    case .storesFirst:
      "a client that is killed at an acknowledgement has shown the push once, also after its next start"
    case .showsOnce: "a push whose acknowledgement is lost with the client is not shown again"
    case .absence: "pushes that were sent while the client did not run are shown once after its start"
    case .streamEnd: "after the end of its stream the client opens another one"
    case .goAway: "after GOAWAY the client connects again"
    case .restart: "after a restart of the gateway the client connects again"
    case .backoff:
      "a client that is refused with 503 makes at most \(ConformanceCheck.maximumAttempts) attempts in 3 seconds"
    case .acknowledgesOnce: "no push was acknowledged twice on a stream"
    case .removal: "a client whose device is removed ends with an exit status other than 0"
    }
  }
}
