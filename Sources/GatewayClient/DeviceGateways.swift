package import GatewayProtocol

/// The gateways that a device may receive from: all of them have its pushes.
package struct DeviceGateways: Sendable {
  /// The addresses that are known without a gateway's help, asked for before each attempt: a gateway that restarts may
  /// have another port.
  let addresses: @Sendable () throws -> [GatewayAddress]
  /// What gateways told at an earlier time.
  let remembered: [GatewayAddress]
  /// Keeps what a gateway tells, for the next time.
  let remember: @Sendable ([GatewayAddress]) -> Void
  /// How one is reached, and whom to trust there.
  let endpoint: @Sendable (GatewayAddress) throws -> Client.Endpoint

  package init(
    addresses: @escaping @Sendable () throws -> [GatewayAddress], remembered: [GatewayAddress] = [],
    remember: @escaping @Sendable ([GatewayAddress]) -> Void = { _ in },
    endpoint: @escaping @Sendable (GatewayAddress) throws -> Client.Endpoint
  ) {
    (self.addresses, self.remembered) = (addresses, remembered)
    (self.remember, self.endpoint) = (remember, endpoint)
  }
}
