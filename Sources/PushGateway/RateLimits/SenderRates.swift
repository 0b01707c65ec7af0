import PushCore
import Synchronization

/// The maximum numbers of pushes per second for a device token, a team and an app; nil: unlimited.
struct RateLimits: Sendable, Equatable {
  var perToken: Int?
  var perTeam: Int?
  var perApp: Int?
}

extension Configuration {
  var rateLimits: RateLimits { RateLimits(perToken: rateLimit, perTeam: teamRate, perApp: appRate) }
}

/// The rate limits in effect, and the usage of teams and apps, shared by all event loops. The burst of each limit is
/// the quota of one second.
///
/// Without limits, a sender at saturation costs other senders little (``LoopContext/enqueue(_:)``); a limit is for
/// operators who want a bound. Only a gateway with a limit for teams or apps pays its cost: a lock that all event
/// loops share.
final class SenderRates: Sendable {
  private struct Buckets {
    var teams = TokenBuckets<String>()
    var apps = TokenBuckets<AppID>()
  }

  private let buckets = Mutex(Buckets())
  private let bounds = Atomic(false)
  /// The limit per device token; 0: unlimited.
  private let tokens = Atomic(0)

  init(_ limits: RateLimits = RateLimits()) { set(limits) }

  /// Applies new limits with full quotas.
  func set(_ limits: RateLimits) {
    tokens.store(limits.perToken ?? 0, ordering: .relaxed)
    buckets.withLock { buckets in
      buckets.teams = TokenBuckets(limits.perTeam.map { TokenBucket.Rate(perSecond: $0) })
      buckets.apps = TokenBuckets(limits.perApp.map { TokenBucket.Rate(perSecond: $0) })
    }
    bounds.store(limits.perTeam != nil || limits.perApp != nil, ordering: .relaxed)
  }

  /// True if teams or apps have a limit.
  var boundsSenders: Bool { bounds.load(ordering: .relaxed) }

  /// The rate of pushes to one device token or channel; nil: unlimited.
  ///
  /// Each event loop has its own buckets: exact as long as a provider uses one connection; several connections may
  /// together exceed the rate.
  var perToken: TokenBucket.Rate? {
    let number = tokens.load(ordering: .relaxed)
    return number > 0 ? TokenBucket.Rate(perSecond: number) : nil
  }

  /// Counts a push of an app; returns the limit that it exceeds, or nil.
  ///
  /// - Parameters:
  ///   - team: the app's team; for an app without a team, the sender's.
  ///   - now: milliseconds since 1970.
  func excess(_ app: AppID, of team: String?, at now: Int64) -> ReachedLimit? {
    buckets.withLock { buckets in
      // A push that exceeds the app's limit does not count against its team.
      if !buckets.apps.take(app, at: now) { return .appRate }
      guard let team else { return nil }
      return buckets.teams.take(team, at: now) ? nil : .teamRate
    }
  }

  /// Counts the additional copies of a push to a group. They are never refused: the excess becomes a debt, and later
  /// pushes are refused until it is repaid.
  ///
  /// - Parameter now: milliseconds since 1970.
  func charge(_ app: AppID, of team: String?, copies: Int, at now: Int64) {
    guard copies > 0 else { return }
    buckets.withLock { buckets in
      buckets.apps.owe(app, copies, at: now)
      if let team { buckets.teams.owe(team, copies, at: now) }
    }
  }
}
