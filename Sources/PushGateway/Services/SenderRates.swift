import PushCore
import PushStorage
import Synchronization

/// How many pushes a second a device token, a team and an app take, each in all; nil: any number.
struct RateLimits: Sendable, Equatable {
  var perToken: Int?
  var perTeam: Int?
  var perApp: Int?
}

extension Configuration {
  var rateLimits: RateLimits { RateLimits(perToken: rateLimit, perTeam: teamRate, perApp: appRate) }
}

/// The limits of rates that are in force, and how much teams and apps have sent, on all loops together. Each may send as many
/// at once as in a second.
///
/// A sender who sends flat out costs others little without (``LoopContext/awaitTurn(_:)``): this is for who wants a bound.
/// Only a gateway that has one for teams or apps pays for it, with a lock that all loops share.
final class SenderRates: Sendable {
  private struct Buckets {
    var teams: TokenBuckets<String>?
    var apps: TokenBuckets<AppID>?
  }

  private let buckets = Mutex(Buckets())
  private let bounds = Atomic(false)
  /// 0: any number.
  private let tokens = Atomic(0)

  init(_ limits: RateLimits = RateLimits()) { set(limits) }

  /// Puts limits into force, as if nothing had been sent before.
  func set(_ limits: RateLimits) {
    tokens.store(limits.perToken ?? 0, ordering: .relaxed)
    buckets.withLock { buckets in
      buckets.teams = limits.perTeam.map { TokenBuckets(.init(burst: $0, perSecond: $0)) }
      buckets.apps = limits.perApp.map { TokenBuckets(.init(burst: $0, perSecond: $0)) }
    }
    bounds.store(limits.perTeam != nil || limits.perApp != nil, ordering: .relaxed)
  }

  /// Whether teams or apps have a limit.
  var boundsSenders: Bool { bounds.load(ordering: .relaxed) }

  /// Pushes a second that one device token, or channel, takes; nil: any number.
  var perToken: Int? {
    let number = tokens.load(ordering: .relaxed)
    return number > 0 ? number : nil
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

  /// Counts the further copies of a push to a group. They are not refused: what is beyond a limit is owed, and later pushes are
  /// refused until it has come back.
  ///
  /// - Parameter now: milliseconds since 1970.
  func charge(_ app: AppID, of team: String?, copies: Int, at now: Int64) {
    guard copies > 0 else { return }
    buckets.withLock { buckets in
      buckets.apps?.owe(app, copies, at: now)
      if let team { buckets.teams?.owe(team, copies, at: now) }
    }
  }
}
