import Foundation
import GatewayProtocol

/// What has happened to a device's history since a screen looked at it.
struct JournalNews: Sendable, Equatable {
  /// Pushes and gaps, of all screens, in their order in the history.
  private(set) var arrivals: [PhoneChange] = []
  /// Whether other screens have changed anything else.
  private(set) var isChanged = false
  /// Whether another screen has an answer that the gateway may not have.
  private(set) var hasAnswers = false
  /// In words what was wrong with the file.
  var notice: String?

  mutating func note(_ change: PhoneChange, isOwn: Bool) {
    switch change {
    case .received, .gap: arrivals.append(change)
    // Numbers say nothing to a screen.
    case .passed, .renumbered: break
    default: if !isOwn { isChanged = true }
    }
    if !isOwn, case .pending = change { hasAnswers = true }
  }

  /// Another file has taken the place of the one that led to `known`: what came since is found by comparing.
  mutating func noteReplacement(of known: PhoneState, by state: PhoneState) {
    let keys = Set(known.entries.map { PushKey($0.push) })
    for entry in state.entries where entry.ordinal >= known.nextOrdinal && !keys.contains(PushKey(entry.push)) {
      arrivals.append(.received(entry.push))
    }
    isChanged = true
    if state.pendingAnswers != known.pendingAnswers { hasAnswers = true }
  }
}

/// Tells pushes apart whatever their numbers are: two of one id were not received at one time.
struct PushKey: Hashable, Sendable {
  private let id: String
  private let topic: String
  private let received: Date

  init(_ push: DevicePush) { (id, topic, received) = (push.id, push.topic, push.received) }
}

/// The last pushes without a number, which come to each screen of a device.
struct PassingPushes: Sendable {
  /// How many are remembered at least.
  private static let minimumCount = 500

  private var keys: Set<PushKey> = []
  private var formerKeys: Set<PushKey> = []

  /// Whether a push has a number, or comes for the first time; it is remembered.
  mutating func isNew(_ push: DevicePush) -> Bool {
    guard push.seq == 0 else { return true }
    let key = PushKey(push)
    guard !keys.contains(key), !formerKeys.contains(key) else { return false }
    if keys.count >= PassingPushes.minimumCount { (formerKeys, keys) = (keys, []) }
    keys.insert(key)
    return true
  }
}
