package import GatewayProtocol

/// The order in which a device tries gateways: the configured ones, and those reported by a gateway.
///
/// A value, without I/O and without a clock. A round tries each address once, one after another; a pause and the next
/// round follow. When a stream has caught up, the round starts again with this gateway marked as tried. A gateway that
/// accepts connections and ends them therefore does not cause attempts at all others without a pause.
package struct GatewayRoute: Sendable {
  private var named: [GatewayAddress] = []
  /// The addresses that gateways reported, and the address of the reporting gateway.
  private(set) var reported: [GatewayAddress]
  private var tried: Set<GatewayAddress> = []
  /// The gateways that the last gateway recommended when it ended the stream.
  private var recommended: [GatewayAddress] = []
  private var generator: any RandomNumberGenerator & Sendable
  /// The number of permanent refusals in this round.
  private var refusalCount = 0
  /// The address that was tried last.
  package private(set) var current: GatewayAddress?

  /// - Parameter reported: the addresses that were reported in an earlier run.
  package init(
    reported: [GatewayAddress] = [], generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.reported = reported
    self.generator = generator
  }

  /// All addresses, configured ones first.
  var known: [GatewayAddress] { named + reported.filter { !named.contains($0) } }

  /// True if the round has an untried address.
  var hasUntried: Bool { known.contains { !tried.contains($0) } }

  /// True if every gateway of the round has refused permanently.
  var isRefusedEverywhere: Bool { refusalCount > 0 && refusalCount == tried.count && !hasUntried }

  /// Returns the address to try.
  ///
  /// The first attempt uses the first address. Later ones use a random untried one, preferably one that the last
  /// gateway recommended, so that the devices of a failed gateway spread over the others.
  ///
  /// - Returns: nil when no address is known.
  mutating func next(named: [GatewayAddress]) -> GatewayAddress? {
    self.named = named
    if !hasUntried { beginRound() }
    let untried = known.filter { !tried.contains($0) }
    let better = untried.filter(recommended.contains)
    let next = current == nil ? untried.first : (better.isEmpty ? untried : better).randomElement(using: &generator)
    if let next { tried.insert(next) }
    current = next
    return next
  }

  /// Takes the other gateways that the connected gateway reports.
  ///
  /// - Returns: true if the addresses have changed and have to be stored.
  mutating func learn(_ others: [GatewayAddress]) -> Bool {
    let news = (current.map { [$0] } ?? []) + others.filter { $0 != current }
    defer { reported = news }
    return Set(news) != Set(reported)
  }

  /// Takes the gateways that a gateway recommends when it ends its streams.
  mutating func recommend(_ others: [GatewayAddress]) {
    recommended = others.filter { $0 != current }
    reported += recommended.filter { !reported.contains($0) }
  }

  /// Counts a permanent refusal of the gateway that was tried.
  mutating func noteRefusal() { refusalCount += 1 }

  /// Starts a round after the stream has sent all pending pushes.
  mutating func noteCaughtUp() {
    beginRound()
    if let current { tried.insert(current) }
  }

  /// Starts a round in which every address is untried.
  mutating func beginRound() {
    (tried, recommended, refusalCount) = ([], [], 0)
  }
}
