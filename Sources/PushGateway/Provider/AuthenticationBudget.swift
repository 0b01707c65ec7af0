import HTTP2Transport

/// How often one sender may send tokens that are none: each costs the verification of a signature, on a loop.
struct AuthenticationBudget {
  let failures: AddressRateLimiter
  let source: UnauthenticatedConnections.Source
  /// Milliseconds since 1970.
  let now: Int64

  var isSpent: Bool { !failures.has(source, at: now) }
  func spend() { failures.take(source, at: now) }
}
