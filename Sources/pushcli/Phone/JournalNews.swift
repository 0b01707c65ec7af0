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
