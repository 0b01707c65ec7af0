/// The time for which a command has not reached its gateway; a value without a clock.
///
/// For the local gateway, the limit covers a restart, also with a migration or a boot. The network to a remote gateway
/// can be down for longer.
struct Absence {
  static let gracePeriod = Duration.seconds(120)

  private let isLocal: Bool
  /// The time of the first failed request since the last answer.
  private var start: ContinuousClock.Instant?

  init(isLocal: Bool) { self.isLocal = isLocal }

  init(of state: StateOptions) { self.init(isLocal: (try? state.context.isRemote) == false) }

  /// Notes a request that did not reach the gateway.
  ///
  /// - Throws: the failure of the request, if the gateway has been away for longer than a restart takes.
  mutating func note(_ failure: CommandFailure, at now: ContinuousClock.Instant = .now) throws(CommandFailure) {
    let first = start ?? now
    start = first
    guard isLocal, now - first >= Absence.gracePeriod else { return }
    var failure = failure
    failure.message = "waited \(Absence.gracePeriod.components.seconds) seconds for the gateway: \(failure.message)"
    throw failure
  }

  /// Notes an answer.
  mutating func end() { start = nil }
}
