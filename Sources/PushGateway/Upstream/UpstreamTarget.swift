import GatewayProtocol
import HTTP2Transport
import PushCore

/// The address of an upstream, and the trust in its certificate.
struct UpstreamTarget: Sendable {
  enum Address: Sendable {
    case tls(host: String, port: Int, TLSContext)
    /// A Unix socket without TLS, for tests.
    case unix(path: String)
  }

  var address: Address
  /// The host for the log, and the value of `:authority`.
  var authority: String
  /// True if the upstream may be a gateway with an upstream of its own. Requests then have the field `via`, which prevents
  /// forwarding loops.
  var isGateway: Bool
}

/// The upstreams of the two environments.
struct UpstreamTargets: Sendable {
  var production: UpstreamTarget
  var development: UpstreamTarget

  subscript(environment: Environment) -> UpstreamTarget {
    switch environment {
    case .production: production
    case .development: development
    }
  }

  init(production: UpstreamTarget, development: UpstreamTarget) {
    (self.production, self.development) = (production, development)
  }

  /// Creates the upstreams of a configuration; nil if it has none.
  ///
  /// - Throws: ``ConfigurationError`` if the file of the CAs can't be used.
  init?(_ configuration: Configuration) throws(ConfigurationError) {
    let hosts: (production: GatewayAddress, development: GatewayAddress)
    let isGateway: Bool
    switch configuration.provider.upstream {
    case .off: return nil
    case .apns:
      hosts = (
        GatewayAddress(host: "api.push.apple.com", port: 443),
        GatewayAddress(host: "api.sandbox.push.apple.com", port: 443)
      )
      isGateway = false
    case .gateway(let address):
      hosts = (address, address)
      isGateway = true
    }
    let trust: TLSContext
    do {
      trust = try TLSContext.client(trustPath: configuration.provider.upstreamAuthority ?? SystemTrust.path)
    } catch {
      throw ConfigurationError(
        description: "the CAs of upstream can't be used: \(error); name a PEM file with upstream_ca, or install the "
          + "package ca-certificates")
    }
    func target(_ address: GatewayAddress) -> UpstreamTarget {
      UpstreamTarget(
        address: .tls(host: address.host, port: address.port, trust),
        authority: isGateway ? address.description : address.host, isGateway: isGateway)
    }
    self.init(production: target(hosts.production), development: target(hosts.development))
  }
}
