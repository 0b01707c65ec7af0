import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import HTTP2Transport
import PushCore

/// Which gateway a command means: one of this machine by its folder, or one elsewhere that was joined or logged in to.
struct StateOptions: ParsableArguments {
  /// The help of `--gateway`.
  static let help: ArgumentHelp = """
    The gateway: HOST:PORT, an https URL, or a name of `pushcli contexts`; comma-separated addresses of one cluster. \
    (the default one)
    """

  @Option(name: .long, help: FolderOptions.help, completion: .directory)
  var state: String?

  @Option(name: .long, help: help, completion: ContextNames.completion)
  var gateway: String?

  init() {}

  /// Creates the options of a gateway that was named elsewhere.
  init(state: String?, gateway: String?) {
    self.init()
    self.state = state
    self.gateway = gateway
  }

  /// The state folder of this machine.
  var local: FolderOptions { FolderOptions(state: state) }

  /// Which gateway is meant. One that is named by an address which no context has is another way to that of the state folder.
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
          "\"\(gateway)\" is no gateway: expected HOST:PORT, https://HOST, or a name that `pushcli contexts` lists")
      }
      let named = try StateOptions.addresses(gateway)
      return named.lazy.compactMap { contexts[$0] }.first?.reached(at: named) ?? contexts.local
    }
  }

  /// The addresses of a text that is no name, with commas between them.
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

  /// Where what is known of the gateway lies: its certificates to trust, and this machine's devices.
  var folder: StateFolder { get throws { try context.folder } }

  /// The address that was named, where no context has it; the first of several.
  var detour: GatewayAddress? { get throws { try detours.first } }

  /// The addresses that were named, where no context has any of them.
  var detours: [GatewayAddress] {
    get throws {
      guard let gateway, try !context.isRemote, gateway != GatewayContext.localName else { return [] }
      return try StateOptions.addresses(gateway)
    }
  }
}

/// Whether data is printed for programs.
struct FormatOptions: ParsableArguments {
  @Flag(name: .long, help: "Print JSON: one object, or one object a line.")
  var json = false
}

/// Where a gateway accepts providers and devices.
struct GatewayOptions: ParsableArguments {
  @Option(name: .customLong("state"), help: FolderOptions.help, completion: .directory)
  var stateFolder: String?

  @Option(name: .long, help: StateOptions.help, completion: ContextNames.completion)
  var gateway: String?

  @Option(
    name: .customLong("ca"), help: "The CA certificates to trust. (the gateway's)",
    completion: .file())
  var trustPath: String?

  var state: StateOptions { StateOptions(state: stateFolder, gateway: gateway) }

  /// The address as it is now: a gateway that restarts may have another port.
  ///
  /// - Parameters:
  ///   - address: an address that was found otherwise, where the person names none.
  ///   - identity: a certificate to show.
  func endpoint(address found: String? = nil, identity: ClientIdentity? = nil) throws -> Client.Endpoint {
    let context = try state.context
    let address = try state.detour ?? context.address ?? listening(found, context.folder)
    return try endpoint(at: address, of: context, identity: identity)
  }

  private func endpoint(
    at address: GatewayAddress, of context: GatewayContext, identity: ClientIdentity? = nil
  ) throws -> Client.Endpoint {
    .tls(
      host: address.host, port: address.port, trustPath: try trustPath ?? knownTrust(of: context, at: address),
      identity: identity, remedy: trustPath == nil ? context.remedy : nil)
  }

  /// Where a device receives: at any gateway of its cell, all of which one authority has certified.
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
          // The one of this machine does not run; others may.
          guard !context.others.isEmpty else { throw error }
          return []
        }
      }, remembered: context.others, remember: context.remember,
      endpoint: { try endpoint(at: $0, of: context) })
  }

  /// The certificates to trust where none are named: the system's for an address where nothing else is known.
  private func knownTrust(of context: GatewayContext, at address: GatewayAddress) throws -> String {
    let path = context.trustPath(at: address)
    let isKnown = FileManager.default.fileExists(atPath: path)
    return try isKnown || state.detour == nil ? path : SystemTrust.path
  }

  /// Where the gateway of a folder listens.
  private func listening(_ found: String?, _ folder: StateFolder) throws -> GatewayAddress {
    if let found { return try GatewayAddress(found) }
    guard let address = folder.listening.first else {
      try state.local.checkPermission(of: folder.listeningPath, mode: R_OK)
      throw CommandFailure(
        .unreachable,
        "no gateway runs on \(folder.path): start one with `pushcli serve`, or name one with --gateway"
          + MachineService.hint(besides: folder) + GatewayContext.elsewhere)
    }
    return address.reachable
  }
}

/// A part of a path, with what a path may not hold escaped.
func pathPart(_ text: String) -> String {
  text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~"))) ?? text
}
