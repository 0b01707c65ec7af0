import PushCore

/// The numbers of a peer's actions that cause work on this side, and of its missing acknowledgements of SETTINGS.
struct PeerCosts {
  private var peerResets = 0
  /// The number of streams that may still be reset because of the peer's frames.
  private var resetCredit = Limits.maximumResets
  private var refusedStreams = 0
  /// The number of sent SETTINGS frames that are not acknowledged.
  private var unacknowledgedSettings = 0
  private var settingsAge = 0

  /// Counts a stream that the peer reset.
  ///
  /// - Returns: true for the first one above `maximum`.
  mutating func addPeerReset(maximum: Int) -> Bool {
    peerResets += 1
    return peerResets - 1 == maximum
  }

  /// Counts a stream that this side reset because of the peer's frames.
  ///
  /// - Returns: true for the first one above the limit.
  mutating func addReset() -> Bool {
    resetCredit -= 1
    return resetCredit == -1
  }

  /// Counts a refused stream.
  ///
  /// - Returns: true for the first one above the limit.
  mutating func addRefusedStream() -> Bool {
    refusedStreams += 1
    return refusedStreams == Limits.maximumRefusedStreams + 1
  }

  mutating func sentSettings() { unacknowledgedSettings += 1 }

  mutating func acknowledgedSettings() {
    unacknowledgedSettings -= 1
    settingsAge = 0
  }

  /// Handles that ``Limits/tick`` seconds have passed.
  ///
  /// - Returns: true if the peer has acknowledged SETTINGS in time.
  mutating func tick() -> Bool {
    resetCredit = min(Limits.maximumResets, resetCredit + Limits.resetsPerSecond * Limits.tick)
    settingsAge = unacknowledgedSettings > 0 ? settingsAge + 1 : 0
    return settingsAge * Limits.tick <= Limits.settingsTime
  }
}
