import PushCore
import Synchronization

/// How often addresses have sent tokens that are none: each costs the verification of a signature, on a loop.
final class AuthenticationFailures: Sendable {
  private let strangers = Mutex(TokenBuckets<String>(Limits.failedAuthentications))
  /// This machine's peers have a budget together: they have one address.
  private let local = Mutex(TokenBuckets<Int>(Limits.localFailedAuthentications))

  /// Whether an address has failed too often; nil is this machine.
  func isSpent(_ address: String?, at now: Int64) -> Bool {
    if let address { strangers.withLock { !$0.has(address, at: now) } } else { local.withLock { !$0.has(0, at: now) } }
  }

  func spend(_ address: String?, at now: Int64) {
    if let address {
      strangers.withLock { _ = $0.take(address, at: now) }
    } else {
      local.withLock { _ = $0.take(0, at: now) }
    }
  }
}

/// What one sender may fail at now.
struct AuthenticationBudget {
  let failures: AuthenticationFailures
  /// nil for this machine.
  let address: String?
  /// Milliseconds since 1970.
  let now: Int64

  var isSpent: Bool { failures.isSpent(address, at: now) }
  func spend() { failures.spend(address, at: now) }
}
