import HTTP2Transport
import PushCore
import PushStorage
import Synchronization

/// The remote administration of the gateway (`remote_admin`): its setting, its tokens, the sessions of the console, and limits
/// on refused attempts.
final class RemoteAdministration: Sendable {
  let tokens: AdministratorTokens
  let console = ConsoleSessions()
  /// The budgets for failed authentications.
  private let failures = AddressRateLimiter(
    remote: Limits.failedAuthentications, local: Limits.localFailedAuthentications)
  private let isOnNow: Atomic<Bool>
  /// The refusals that were recorded in the current hour, by the refused client.
  private let refusals = Mutex((hour: Int64.min, count: 0, counts: [String: Int]()))

  init(_ tokens: AdministratorTokens, isOn: Bool = false) {
    self.tokens = tokens
    isOnNow = Atomic(isOn)
  }

  /// True if remote administration is enabled.
  var isOn: Bool { isOnNow.load(ordering: .relaxed) }

  /// Applies another value of the setting.
  func set(isOn: Bool) { isOnNow.store(isOn, ordering: .relaxed) }

  /// Counts a failed authentication; false if it exceeds the limit.
  ///
  /// - Parameter now: milliseconds since 1970.
  func countFailure(from source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    failures.take(source, at: now)
  }

  /// Returns true if a refusal is to be recorded in the audit trail. The number is limited, because the trail is for
  /// completed actions.
  ///
  /// - Parameters:
  ///   - who: the name of the refused client in the trail.
  ///   - now: seconds since 1970.
  func keepsRefusal(of who: String, at now: Int64) -> Bool {
    refusals.withLock { state in
      if state.hour != now / 3600 { state = (now / 3600, 0, [:]) }
      guard state.count < Limits.maximumAuditedRefusalsInAll,
        state.counts[who, default: 0] < Limits.maximumAuditedRefusals
      else { return false }
      state.count += 1
      state.counts[who, default: 0] += 1
      return true
    }
  }
}
