import HTTP2Transport
import PushCore
import PushStorage
import Synchronization

/// Who may administer the gateway from elsewhere (`remote_admin`), and how often it is told that they may not.
final class RemoteAdministration: Sendable {
  let tokens: AdministratorTokens
  /// Credentials that are none.
  private let failures = AddressRateLimiter(
    strangers: Limits.failedAuthentications, local: Limits.localFailedAuthentications)
  private let isOnNow: Atomic<Bool>
  /// Refusals that were written down in an hour, by who was refused.
  private let refusals = Mutex((hour: Int64.min, count: 0, counts: [String: Int]()))

  init(_ tokens: AdministratorTokens, isOn: Bool = false) {
    self.tokens = tokens
    isOnNow = Atomic(isOn)
  }

  /// Whether anybody may.
  var isOn: Bool { isOnNow.load(ordering: .relaxed) }

  /// Puts another value of the setting into force.
  func set(isOn: Bool) { isOnNow.store(isOn, ordering: .relaxed) }

  /// Counts a credential that is none; false when it is one too many.
  ///
  /// - Parameter now: milliseconds since 1970.
  func countFailure(from source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    failures.take(source, at: now)
  }

  /// Whether a refusal is to be written down: the trail is for what was done.
  ///
  /// - Parameters:
  ///   - who: as the trail has it.
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
