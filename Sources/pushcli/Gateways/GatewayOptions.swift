import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import HTTP2Transport
import PushCore

/// The gateway that a command uses: a local one by its folder, or a remote one that was joined or logged in to.
struct StateOptions: ParsableArguments {
  static let help: ArgumentHelp = """
    The gateway: HOST:PORT, an https URL, or a name of `pushcli contexts`; comma-separated addresses of one cluster. \
    (the default one)
    """

  @Option(name: .long, help: FolderOptions.help, completion: .directory)
  var state: String?

  @Option(name: .long, help: help, completion: CompletedLine.contexts)
  var gateway: String?

  init() {}

  /// Creates the options from a given folder and gateway.
  init(state: String?, gateway: String?) {
    self.init()
    self.state = state
    self.gateway = gateway
  }

  var local: FolderOptions { FolderOptions(state: state) }

  /// The gateway that the options name. An address without a context is another address of the state folder's gateway.
  ///
  /// - Throws: ``CommandFailure`` for a text that is neither a name nor an address.
  var context: GatewayContext {
    get throws {
      let contexts = Contexts(try local.folder)
      guard let gateway else { return try contexts.current }
      if let named = contexts[gateway] { return named }
      guard gateway.contains(":") else {
        throw CommandFailure(
          .usage,
          "\"\(gateway)\" is not a gateway: expected HOST:PORT, https://HOST, or a name that `pushcli contexts` lists")
      }
      let named = try StateOptions.addresses(gateway)
      return named.lazy.compactMap { contexts[$0] }.first?.reached(at: named) ?? contexts.local
    }
  }

  /// Parses addresses that are separated by commas.
  private static func addresses(_ text: String) throws(CommandFailure) -> [GatewayAddress] {
    var addresses: [GatewayAddress] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let address = try GatewayAddress(String(part))
      if !addresses.contains(address) { addresses.append(address) }
    }
    guard addresses.count <= Limits.maximumGateways else {
      throw CommandFailure(.usage, "\(addresses.count) addresses are too many: at most \(Limits.maximumGateways)")
    }
    return addresses
  }

  /// The folder with the data of the gateway: its certificates to trust, and this machine's devices.
  var folder: StateFolder { get throws { try context.folder } }

  /// The named address, if no context has it; the first of several.
  var detour: GatewayAddress? { get throws { try detours.first } }

  /// The named addresses, if no context has any of them.
  var detours: [GatewayAddress] {
    get throws {
      guard let gateway, try !context.isRemote, gateway != GatewayContext.localName else { return [] }
      return try StateOptions.addresses(gateway)
    }
  }
}

/// The gateway, with the certificates to trust, of commands that connect as a provider or a device.
struct GatewayOptions: ParsableArguments {
  @Option(name: .customLong("state"), help: FolderOptions.help, completion: .directory)
  var stateFolder: String?

  @Option(name: .long, help: StateOptions.help, completion: CompletedLine.contexts)
  var gateway: String?

  @Option(
    name: .customLong("ca"), help: "The CA certificates to trust. (the gateway's)",
    completion: .file())
  var trustPath: String?

  var state: StateOptions { StateOptions(state: stateFolder, gateway: gateway) }

  /// Returns the current address: a gateway that restarts can have another port.
  ///
  /// - Parameters:
  ///   - address: an address found otherwise, for use if the user names none.
  ///   - identity: a client certificate to present.
  func endpoint(address found: String? = nil, identity: ClientIdentity? = nil) throws -> Client.Endpoint {
    let context = try state.context
    let address = try state.detour ?? context.address ?? listening(found, context.folder)
    return try endpoint(at: address, of: context, identity: identity)
  }

  /// Returns the endpoint of ``endpoint(address:identity:)``, and those of the other gateways of the cluster.
  ///
  /// - Parameter others: further addresses of the cluster; nil for the first endpoint alone.
  func endpoints(
    address found: String? = nil, others: [GatewayAddress]?, identity: ClientIdentity? = nil
  ) throws -> [Client.Endpoint] {
    let context = try state.context
    let first = Result { try endpoint(address: found, identity: identity) }
    guard let others else { return [try first.get()] }
    let own = try state.detour ?? context.address ?? context.folder.listening.first?.reachable
    var seen: Set<GatewayAddress> = []
    if let own { seen.insert(own) }
    let rest = try (state.detours + context.others + others).filter { seen.insert($0).inserted }
    // If the gateway of this machine does not run, the others can be reached.
    guard !rest.isEmpty else { return [try first.get()] }
    return try [try? first.get()].compactMap(\.self)
      + rest.map { try endpoint(at: $0, of: context, identity: identity) }
  }

  private func endpoint(
    at address: GatewayAddress, of context: GatewayContext, identity: ClientIdentity? = nil
  ) throws -> Client.Endpoint {
    .tls(
      host: address.host, port: address.port, trustPath: try trustPath ?? knownTrust(of: context, at: address),
      identity: identity, remedy: trustPath == nil ? context.remedy : nil)
  }

  /// Returns the gateways at which a device receives: all gateways of its cluster, which are certified by one CA.
  func deviceGateways() throws -> DeviceGateways {
    let context = try state.context
    return DeviceGateways(
      addresses: {
        let named = try state.detours
        if !named.isEmpty { return named }
        if let address = context.address { return [address] + context.others }
        do {
          return [try listening(nil, context.folder)]
        } catch {
          // The gateway of this machine does not run, but others can be reached.
          guard !context.others.isEmpty else { throw error }
          return []
        }
      }, remembered: context.others, remember: context.remember,
      endpoint: { try endpoint(at: $0, of: context) })
  }

  /// Returns the path of the certificates to trust if the user names none: the system's for an address without stored
  /// certificates.
  private func knownTrust(of context: GatewayContext, at address: GatewayAddress) throws -> String {
    let path = context.trustPath(at: address)
    let isKnown = FileManager.default.fileExists(atPath: path)
    return try isKnown || state.detour == nil ? path : SystemTrust.path
  }

  private func listening(_ found: String?, _ folder: StateFolder) throws -> GatewayAddress {
    if let found { return try GatewayAddress(found) }
    guard let address = folder.listening.first else {
      try state.local.checkPermission(of: folder.listeningPath, mode: R_OK)
      throw CommandFailure(
        .unreachable,
        "no gateway runs on \(folder.path): start one with `pushcli serve`, or name one with --gateway"
          + folder.serviceHint + GatewayContext.elsewhere)
    }
    return address.reachable
  }
}
