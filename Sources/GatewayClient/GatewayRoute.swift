package import GatewayProtocol

/// Which gateway a device tries next: one of those that were named, and of those that a gateway told of.
///
/// A value, without I/O and without a clock. A round tries each address once, one right after another; then comes a
/// pause, and the next round. What a round has tried is forgotten when a stream has caught up: a gateway that takes
/// connections and ends them is no reason to try all of them without a pause.
package struct GatewayRoute: Sendable {
  private var named: [GatewayAddress] = []
  /// What the gateways told, and where that was.
  private(set) var told: [GatewayAddress]
  private var tried: Set<GatewayAddress> = []
  /// Where the last gateway sends its devices.
  private var recommended: [GatewayAddress] = []
  private var generator: any RandomNumberGenerator & Sendable
  /// How many of the round refused for good.
  private var refusalCount = 0
  /// The address that was tried last.
  package private(set) var current: GatewayAddress?

  /// - Parameter told: what was remembered of an earlier time.
  package init(
    told: [GatewayAddress] = [], generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.told = told
    self.generator = generator
  }

  /// All addresses that there are, those that were named first.
  var known: [GatewayAddress] { named + told.filter { !named.contains($0) } }

  /// Whether there is one that the round has not tried.
  var hasUntried: Bool { known.contains { !tried.contains($0) } }

  /// Whether every gateway of the round has refused for good.
  var isRefusedEverywhere: Bool { refusalCount > 0 && refusalCount == tried.count && !hasUntried }

  /// The address to try: the first one at first, where the last gateway recommends one of those, else any that the round
  /// has not tried, so that the devices of a gateway that dies spread over the others.
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

  /// The gateway that is connected tells of the others.
  ///
  /// - Returns: whether that is news, which is to be remembered.
  mutating func learn(_ others: [GatewayAddress]) -> Bool {
    let news = (current.map { [$0] } ?? []) + others.filter { $0 != current }
    defer { told = news }
    return Set(news) != Set(told)
  }

  /// The gateway ends its streams, and sends its devices to others.
  mutating func recommend(_ others: [GatewayAddress]) {
    recommended = others.filter { $0 != current }
    told += recommended.filter { !told.contains($0) }
  }

  /// The gateway that was tried will not have this device, as things are.
  mutating func noteRefusal() { refusalCount += 1 }

  /// The stream has sent what waited.
  mutating func noteCaughtUp() {
    beginRound()
    if let current { tried.insert(current) }
  }

  /// Everything may be tried again.
  mutating func beginRound() {
    (tried, recommended, refusalCount) = ([], [], 0)
  }
}
