import GatewayProtocol

/// The ways by which a command can continue: its own gateway, and the other gateways of the cluster with the
/// credentials of this machine. A value, without I/O.
struct GatewayWays: Sendable {
  struct Way: Sendable, Equatable {
    /// nil for the admin socket of this machine's gateway.
    var address: GatewayAddress?
    /// The administrator's token, or the secret of a device; nil on the admin socket.
    var secret: String?
    /// True for an administrator, false for a device, which reads only its own rows of the delivery log.
    var isAdministered: Bool
  }

  private(set) var all: [Way] = []
  /// The index of the way in use.
  private(set) var current = 0

  /// - Parameters:
  ///   - context: the own gateway.
  ///   - reported: further addresses of the cluster, as the options or the own gateway name them.
  ///   - bearer: the credential of an administrator; nil if this machine has none.
  ///   - secret: the secret of a device that the command is about; nil if another machine has it.
  init(_ context: GatewayContext, reported: [GatewayAddress], bearer: String?, secret: String?) {
    if !context.isRemote { all.append(Way(address: nil, secret: nil, isAdministered: true)) }
    var seen: Set<GatewayAddress> = []
    for address in [context.address].compactMap(\.self) + reported + context.others where seen.insert(address).inserted
    {
      if let bearer { all.append(Way(address: address, secret: bearer, isAdministered: true)) }
      if let secret { all.append(Way(address: address, secret: secret, isAdministered: false)) }
    }
  }

  var administered: GatewayWays {
    var ways = self
    ways.all.removeAll { !$0.isAdministered }
    return ways
  }

  /// The way in use; nil if this machine has no credential.
  var way: Way? { all.indices.contains(current) ? all[current] : nil }

  /// Goes on to the next way after a failure of one, unless another request has done that.
  mutating func leave(_ index: Int) {
    if index == current, !all.isEmpty { current = (current + 1) % all.count }
  }

  /// Returns true if a later request can succeed, or a request at another gateway.
  ///
  /// The own gateway decides about credentials; another one may have `remote_admin: off`, or another certificate.
  func isPassing(_ failure: CommandFailure, at index: Int) -> Bool {
    if failure.status == 503 { return true }
    if failure.exit == .unreachable { return !failure.isPermanent || index > 0 }
    return index > 0 && (failure.status == 401 || failure.status == 403 || failure.isPermanent)
  }
}
