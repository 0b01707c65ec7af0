import PushCore
import PushStorage
import Synchronization

/// How many pushes a second a team, and an app, may send, on all loops together. Each may send as many at once as in a
/// second.
///
/// A sender who sends flat out costs others little without (``LoopContext/awaitTurn(_:)``): this is for who wants a bound.
/// Only a gateway that has one pays for it, with a lock that all loops share.
final class SenderRates: Sendable {
  private struct Buckets {
    var teams: TokenBuckets<String>?
    var apps: TokenBuckets<AppID>?
  }

  private let buckets: Mutex<Buckets>

  /// - Returns: nil when nothing is bounded.
  init?(team: Int?, app: Int?) {
    if team == nil, app == nil { return nil }
    buckets = Mutex(
      Buckets(
        teams: team.map { TokenBuckets(.init(burst: $0, perSecond: $0)) },
        apps: app.map { TokenBuckets(.init(burst: $0, perSecond: $0)) }))
  }

  /// Counts a push of an app; the limit that it is beyond, if it is.
  ///
  /// - Parameters:
  ///   - team: whose the app is, or who sends, where it is nobody's.
  ///   - now: milliseconds since 1970.
  func excess(_ app: AppID, of team: String?, at now: Int64) -> ReachedLimit? {
    buckets.withLock { buckets in
      // What the app may not send does not count against its team.
      if buckets.apps?.take(app, at: now) == false { return .appRate }
      guard let team else { return nil }
      return buckets.teams?.take(team, at: now) == false ? .teamRate : nil
    }
  }
}
