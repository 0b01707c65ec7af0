import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// A verified provider token: its key and its issue time (reference §4). Immutable and shared, since every push needs
/// it.
final class ProviderToken: Sendable {
  let key: ProviderKey
  /// Seconds since 1970 (`iat`).
  let issued: Int64

  init(key: ProviderKey, issued: Int64) {
    self.key = key
    self.issued = issued
  }

  /// - Throws: `ExpiredProviderToken` if the token is too old; `InvalidProviderToken` if it was issued in the future.
  func checkAge(now: Int64) throws(Rejection) {
    if now - issued > Int64(Limits.maximumTokenAge) { throw Rejection(.expiredProviderToken) }
    if issued - now > Int64(Limits.maximumTokenSkew) { throw Rejection(.invalidProviderToken) }
  }
}

/// The parts of the verification of provider tokens that a test gateway replaces.
struct TokenVerification: Sendable {
  /// Returns the key for an id and a team that no registered key has; nil to refuse the token.
  var unknownKey: @Sendable (_ id: String, _ team: String) -> ProviderKey? = { _, _ in nil }
  /// True if the key has to verify the signature.
  var checksSignatures = true
  /// Returns the seconds to add to the issue time of a token.
  var correction: @Sendable (_ token: [UInt8]) -> Int64 = { _ in 0 }
}

/// Verifies provider tokens, each once: a signature costs 100 µs, and every push carries the same token.
final class ProviderTokenCache: Sendable {
  private struct State {
    var tokens: [[UInt8]: ProviderToken] = [:]
    /// The total size of the keys of `tokens` in bytes.
    var size = 0
    var generation: UInt64 = 0
  }

  private let state = Mutex(State())
  private let registrations: any Registrations
  private let verification: TokenVerification
  /// True if pushes with unknown keys are forwarded to an upstream, which has limits for them of its own.
  private let forwardsForeign: Bool
  /// The limits on invalid tokens, by source: each costs a signature verification on an event loop.
  private let failures = AddressRateLimiter(
    remote: Limits.failedAuthentications, local: Limits.localFailedAuthentications)

  /// The number of cached tokens, and their size in bytes.
  var weight: (count: Int, size: Int) { state.withLock { ($0.tokens.count, $0.size) } }

  init(
    registrations: any Registrations, verification: TokenVerification = TokenVerification(),
    forwardsForeign: Bool = false
  ) {
    (self.registrations, self.verification) = (registrations, verification)
    self.forwardsForeign = forwardsForeign
  }

  /// Returns the token of these bytes, verified now or before. The caller must check its age.
  ///
  /// - Parameters:
  ///   - source: the source of the request, whose failed verifications are limited; nil: unlimited.
  ///   - now: milliseconds since 1970.
  /// - Throws: `InvalidProviderToken`; `TooManyRequests` for an address that has failed too often.
  func token(
    _ bytes: [UInt8], parser: JSONParser, from source: UnauthenticatedConnections.Source? = nil, at now: Int64 = 0
  ) throws(Rejection) -> ProviderToken {
    let generation = registrations.keyGeneration
    let known = state.withLock { state -> ProviderToken? in
      if state.generation != generation {
        (state.tokens, state.size) = ([:], 0)
        state.generation = generation
      }
      return state.tokens[bytes]
    }
    if let known { return known }
    if let source, !failures.has(source, at: now) { throw Rejection(.tooManyRequests) }
    let token: ProviderToken
    do throws(Rejection) {
      token = try verify(bytes, parser: parser)
    } catch {
      if let source, !(error.isForeign && forwardsForeign) { failures.take(source, at: now) }
      throw error
    }
    state.withLock { state in
      guard state.generation == generation else { return }
      if state.tokens.count >= Limits.maximumCachedTokens
        || state.size + bytes.count > Limits.maximumCachedTokenSize
      {
        (state.tokens, state.size) = ([:], 0)
      }
      if state.tokens.updateValue(token, forKey: bytes) == nil { state.size += bytes.count }
    }
    return token
  }

  private func verify(_ bytes: [UInt8], parser: JSONParser) throws(Rejection) -> ProviderToken {
    guard let token = CompactToken(bytes) else { throw Rejection(.invalidProviderToken) }
    let signing = try? parser.parse(token.header.span) { root in
      (algorithm: root["alg"]?.string.flatMap(ES256Key.Algorithm.init), keyID: root["kid"]?.string)
    }
    let claim = try? parser.parse(token.claims.span) { root in
      (team: root["iss"]?.string, issued: seconds(root["iat"]?.double ?? root["iat"]?.string.flatMap(Double.init)))
    }
    guard let algorithm = signing?.algorithm, let keyID = signing?.keyID, let team = claim?.team,
      let issued = claim?.issued
    else { throw Rejection(.invalidProviderToken) }
    guard let key = key(keyID, of: team) else {
      let isUnknown = registrations.key(keyID) == nil
      throw isUnknown ? Rejection.foreign(.invalidProviderToken) : Rejection(.invalidProviderToken)
    }
    guard
      !verification.checksSignatures
        || key.publicKey.verifies(token.signature, of: token.signed, by: algorithm)
    else { throw Rejection(.invalidProviderToken) }
    return ProviderToken(key: key, issued: issued + verification.correction(bytes))
  }

  private func key(_ id: String, of team: String) -> ProviderKey? {
    if let key = registrations.key(id), key.team == team { return key }
    return verification.unknownKey(id, team)
  }
}

/// Converts `iat`, which may be an integer, a float or a string (reference §4.3). Valid seconds range from 1970 to
/// the last integer that a double holds exactly, so that a subtraction from any time can't overflow.
private func seconds(_ number: Double?) -> Int64? {
  guard let number, (0...Double(1 << 53)).contains(number) else { return nil }
  return Int64(number)
}
