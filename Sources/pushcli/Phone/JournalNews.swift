import GatewayProtocol

/// The changes of a device's history since a screen last read them.
struct JournalNews: Sendable, Equatable {
  /// Pushes and gaps from all screens, in the order of the history.
  private(set) var arrivals: [PhoneChange] = []
  /// True if other screens have made any other change.
  private(set) var isChanged = false
  /// True if another screen has an answer that the gateway may not have.
  private(set) var hasAnswers = false
  /// A description of the fault if the file was damaged.
  var notice: String?

  mutating func note(_ change: PhoneChange, isOwn: Bool) {
    switch change {
    case .received, .gap: arrivals.append(change)
    // Sequence numbers do not affect a screen.
    case .passed, .renumbered: break
    default: if !isOwn { isChanged = true }
    }
    if !isOwn, case .pending = change { hasAnswers = true }
  }

  /// Handles the replacement of the file that led to `known`. New pushes are found by comparing the two states.
  mutating func noteReplacement(of known: PhoneState, by state: PhoneState) {
    let keys = Set(known.entries.map { PushKey($0.push) })
    for entry in state.entries where entry.ordinal >= known.nextOrdinal && !keys.contains(PushKey(entry.push)) {
      arrivals.append(.received(entry.push))
    }
    isChanged = true
    if state.pendingAnswers != known.pendingAnswers { hasAnswers = true }
  }
}
