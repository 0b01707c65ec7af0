/// A peer was given up: nothing came from it, and it did not answer two PINGs.
package struct KeepAliveTimeout: Error, CustomStringConvertible {
  package var description: String { "no answer to PINGs" }
}

/// Whether a peer is alive, found out by PINGs: a value, without a clock.
///
/// It is asked twice in every interval. While the peer is heard a PING goes out once in an interval; when one is not
/// answered, a second one follows half an interval later; when that is not answered either, the peer is given up. So a
/// dead link is known within two intervals of its last sound. Whatever arrives is a sound: on a slow link an answer may
/// come long after data that was sent before it.
package struct Liveness {
  package enum Action { case wait, ping, giveUp }

  private var unanswered = 0
  private var isPingDue = true

  /// Half an interval has passed.
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

  /// Something arrived.
  package mutating func received() { unanswered = 0 }
}
