import GatewayProtocol
import PushCore
import PushStorage

/// The state of a provider's connection: the last token, so that the next push needs only a comparison, and the key
/// and team that the connection is bound to (reference §4.2, §4.4).
///
/// Belongs to the event loop of its connection.
final class ProviderConnection {
  /// The last accepted value of `authorization`, unchanged.
  private var authorization: [UInt8] = []
  private var token: ProviderToken?
  private var generation: UInt64 = 0

  /// The current token of the connection without its signature: the same claims with another signature are the same
  /// token.
  private var statement: [UInt8] = []
  private var current: ProviderToken?
  /// The time at which it was first used, in seconds since 1970.
  private var since: Int64 = 0
  /// The key of the connection's first token. It determines the connection's team, and the related keys if it has
  /// topics.
  private var first: ProviderKey?

  /// The team of the last token.
  var team: String? { token?.key.team }

  /// Returns the last token if the field is unchanged and no key has changed since.
  func token(_ field: Span<UInt8>, generation: UInt64) -> ProviderToken? {
    guard let token, generation == self.generation, field.isSame(as: authorization) else { return nil }
    return token
  }

  /// Stores an accepted token.
  func keep(_ field: [UInt8], _ token: ProviderToken, generation: UInt64) {
    authorization = field
    self.token = token
    self.generation = generation
  }

  /// Replaces the current token by a verified one, if the change is allowed.
  ///
  /// A change is allowed after the minimum interval, measured either by the time that the connection has used the old
  /// token, or by the issue times of the two. So a connection that began with an old token is not penalized. A
  /// removed key neither binds the connection nor delays its successor. After the clock was set back, the first change
  /// is allowed.
  ///
  /// - Parameters:
  ///   - bytes: the text of the token.
  ///   - interval: the minimum interval in seconds.
  ///   - now: seconds since 1970.
  /// - Throws: `InvalidProviderToken` for another team, `UnrelatedKeyIdInToken`, `TooManyProviderTokenUpdates`.
  func change(
    to token: ProviderToken, _ bytes: ArraySlice<UInt8>, _ registrations: any Registrations, interval: Int64, now: Int64
  ) throws(Rejection) {
    let key = token.key
    if let first, registrations.key(first.id) != nil {
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
    if let current, registrations.key(current.key.id) != nil,
      (0..<max(0, interval)).contains(now - since), token.issued - current.issued < interval
    {
      throw Rejection(.tooManyProviderTokenUpdates)
    }
    statement = Array(bytes[..<end])
    current = token
    since = now
  }
}

/// The sender of a push: the holder of a key, identified by a token, or the holder of a certificate (reference §4).
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

  /// Returns true if the sender may push to a topic: with a token, to an app of its team. A key's topics may have the
  /// suffix or not.
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

  /// Returns true if the sender may push to the apps of a team. Apps without a team accept all senders, and a
  /// certificate lists its topics itself.
  func isOf(_ team: String?) -> Bool {
    switch self {
    case .token(let token): team == nil || team == token.key.team
    case .certificate: true
    }
  }
}
