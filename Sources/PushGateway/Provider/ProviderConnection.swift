import GatewayProtocol
import PushCore
import PushStorage

/// What is remembered of a provider's connection: the token that came last, so that the next push only compares, and
/// what the connection is bound to (reference §4.2, §4.4).
///
/// Belongs to the loop of its connection.
final class ProviderConnection {
  /// The last `authorization` that was accepted, as it came.
  private var authorization: [UInt8] = []
  private var token: ProviderToken?
  private var generation: UInt64 = 0

  /// The token that the connection goes by, without its signature: the same claims signed again are the same token.
  private var statement: [UInt8] = []
  private var current: ProviderToken?
  /// When it came, in seconds since 1970.
  private var since: Int64 = 0
  /// The key of the connection's first token: its team is the connection's, and so is its relation if it has topics.
  private var first: ProviderKey?

  /// The team of the token that came last.
  var team: String? { token?.key.team }

  /// The token of a field that is the same as the last one, unless a key has changed since.
  func token(_ field: Span<UInt8>, generation: UInt64) -> ProviderToken? {
    guard let token, generation == self.generation, field.isSame(as: authorization) else { return nil }
    return token
  }

  /// Remembers a token that was accepted.
  func keep(_ field: [UInt8], _ token: ProviderToken, generation: UInt64) {
    authorization = field
    self.token = token
    self.generation = generation
  }

  /// Goes over to a token that has been verified, if it may follow the one before.
  ///
  /// A change is in time when either the connection has known the old token for long enough, or the new one was made
  /// that much later: a connection that began with an old token is not punished for it. A key that was removed neither
  /// binds the connection nor keeps its successor waiting.
  /// - Throws: `InvalidProviderToken` for another team, `UnrelatedKeyIdInToken`, `TooManyProviderTokenUpdates`.
  func change(
    to token: ProviderToken, _ bytes: ArraySlice<UInt8>, _ services: Services, now: Int64
  ) throws(Rejection) {
    let key = token.key
    if let first, services.registrations.key(first.id) != nil {
      guard key.team == first.team else { throw Rejection(.invalidProviderToken) }
      let hasTopics = key.topics != nil || first.topics != nil
      guard key.id == first.id || !hasTopics || key.related == first.id || first.related == key.id else {
        throw Rejection(.unrelatedKeyIdInToken)
      }
    } else {
      first = key
    }
    let end = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
    guard bytes[..<end] != statement[...] else { return }
    let interval = services.provider.tokenUpdateInterval
    if let current, services.registrations.key(current.key.id) != nil, now - since < interval,
      token.issued - current.issued < interval
    {
      throw Rejection(.tooManyProviderTokenUpdates)
    }
    statement = Array(bytes[..<end])
    current = token
    since = now
  }
}

/// Who sends a push: the holder of a key, by a token of it, or of a certificate (reference §4).
enum ProviderSender {
  case token(ProviderToken)
  case certificate(PeerIdentity)

  /// The topic of a request that names none.
  var defaultTopic: String? {
    switch self {
    case .token: nil
    case .certificate(let identity): identity.topics.count == 1 ? identity.topics.first : nil
    }
  }

  /// Whether it may push to a topic: to one of an app of its team; a key's topics may be given with and without suffix.
  func permits(_ topic: NamedTopic) -> Bool {
    switch self {
    case .token(let token):
      isOf(topic.team) && token.key.topics.map { $0.contains(topic.bundleID) || $0.contains(topic.text) } ?? true
    case .certificate(let identity): identity.topics.contains(topic.text)
    }
  }

  /// The team whose key signed the token.
  var team: String? {
    switch self {
    case .token(let token): token.key.team
    case .certificate: nil
    }
  }

  /// Whether it reaches the apps of a team; an app without one is everybody's. A certificate names its topics itself.
  func isOf(_ team: String?) -> Bool {
    switch self {
    case .token(let token): team == nil || team == token.key.team
    case .certificate: true
    }
  }
}
