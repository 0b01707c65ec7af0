package import GatewayProtocol

/// The gateways from which a device may receive: all of them have its pushes.
package struct DeviceGateways: Sendable {
  /// Returns the configured addresses. Called before each attempt, because a restarted gateway may have another port.
  let addresses: @Sendable () throws -> [GatewayAddress]
  /// The addresses that gateways reported in an earlier run.
  let remembered: [GatewayAddress]
  /// Stores the addresses that a gateway reports, for the next run.
  let remember: @Sendable ([GatewayAddress]) -> Void
  /// Returns the endpoint of an address, with the certificates to trust.
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
