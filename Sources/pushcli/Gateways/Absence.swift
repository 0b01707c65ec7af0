/// The time for which a command has found no gateway: a value, without a clock.
///
/// The gateway of this machine is waited for as long as a restart takes, also one with a migration or a boot. The network to a
/// gateway elsewhere can be away for longer.
struct Absence {
  static let patience = Duration.seconds(120)

  private let isLocal: Bool
  /// When the first of the requests failed that were made since the last answer.
  private var start: ContinuousClock.Instant?

  init(isLocal: Bool) { self.isLocal = isLocal }

  init(of state: StateOptions) { self.init(isLocal: (try? state.context.isRemote) == false) }

  /// Notes a request that found no gateway.
  ///
  /// - Throws: its failure, when the gateway has been away for longer than a restart takes.
  mutating func note(_ failure: CommandFailure, at now: ContinuousClock.Instant = .now) throws(CommandFailure) {
    let first = start ?? now
    start = first
    guard isLocal, now - first >= Absence.patience else { return }
    var failure = failure
    failure.message = "waited \(Absence.patience.components.seconds) seconds for the gateway: \(failure.message)"
    throw failure
  }

  /// Notes an answer.
  mutating func end() { start = nil }
}
