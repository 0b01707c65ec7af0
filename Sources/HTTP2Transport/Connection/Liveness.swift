/// An error: the peer sent nothing and did not answer two PINGs.
package struct KeepAliveTimeout: Error, CustomStringConvertible {
  package var description: String { "no answer to PINGs" }
}

/// Detection of dead peers by PINGs: a value without a clock.
///
/// ``tick()`` is called twice in every interval. While the peer sends data, one PING is sent per interval. If a PING
/// is not answered, a second one follows half an interval later; if that is not answered either, the peer is given
/// up. A dead link is therefore detected within two intervals of its last data. All received data counts as an
/// answer: on a slow link the answer to a PING may arrive long after data that was sent before it.
package struct Liveness {
  package enum Action { case wait, ping, giveUp }

  private var unanswered = 0
  private var isPingDue = true

  /// Handles that half an interval has passed, and returns the action to take.
  package mutating func tick() -> Action {
    guard unanswered < 2 else { return .giveUp }
    guard unanswered == 1 || isPingDue else {
      isPingDue = true
      return .wait
    }
    isPingDue = false
    unanswered += 1
    return .ping
  }

  /// Records that data arrived.
  package mutating func received() { unanswered = 0 }
}
