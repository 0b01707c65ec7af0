import GatewayClient

/// The progress of one loop, or of the test, summed over all loops.
package struct LoadStanding: Sendable {
  package var readyProviders = 0
  package var providers = 0
  package var live = 0
  package var expectedDevices = 0
  package var sent = 0
  package var accepted = 0
  package var delivered = 0
  package var expected = 0
  package var refused = 0
  /// The number of pushes evicted according to `gap` lines.
  package var dropped = 0
  package var inFlight = 0
  /// The number of due pushes that were not sent.
  package var unsent = 0
  package var isSending = false
  /// True if everything sent is answered and everything accepted is delivered.
  package var isQuiet = true
  package var failure: String?
  package var lastLoss: String?
  package var storm: (began: UInt64, allLive: UInt64?, caughtUp: UInt64?)?

  package var isConnected: Bool { live >= expectedDevices && readyProviders >= providers }

  /// - Throws: ``ClientError`` if a loop can't continue.
  package func check() throws {
    guard let failure else { return }
    throw ClientError(.unreachable, failure)
  }

  mutating func add(_ one: LoadStanding) {
    readyProviders += one.readyProviders
    live += one.live
    expectedDevices += one.expectedDevices
    sent += one.sent
    accepted += one.accepted
    delivered += one.delivered
    expected += one.expected
    refused += one.refused
    dropped += one.dropped
    inFlight += one.inFlight
    unsent += one.unsent
    isSending = isSending || one.isSending
    isQuiet = isQuiet && one.isQuiet
    failure = failure ?? one.failure
    lastLoss = lastLoss ?? one.lastLoss
    guard let known = storm, let next = one.storm else {
      storm = storm ?? one.storm
      return
    }
    // The storm is over when it is over for the last loop.
    func later(_ one: UInt64?, _ other: UInt64?) -> UInt64? { one.flatMap { one in other.map { max(one, $0) } } }
    storm = (min(known.began, next.began), later(known.allLive, next.allLive), later(known.caughtUp, next.caughtUp))
  }
}
