import HTTP2Transport

/// The budget of one sender for invalid tokens: each costs a signature verification on an event loop.
struct AuthenticationBudget {
  let failures: AddressRateLimiter
  let source: UnauthenticatedConnections.Source
  /// Milliseconds since 1970.
  let now: Int64

  var isSpent: Bool { !failures.has(source, at: now) }
  func spend() { failures.take(source, at: now) }
}
