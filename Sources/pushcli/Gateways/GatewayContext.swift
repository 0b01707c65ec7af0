import Foundation
import GatewayProtocol
import PushCore

/// A known gateway: the local one, or one that was joined or logged in to.
///
/// The data of a remote gateway is in a separate folder, with the layout of a state folder. `gateway.json` has its
/// address, `ca.pem` its CA, `devices/` the secrets of this machine's devices, `login.json` an administrator's token.
struct GatewayContext {
  /// `local`, or the name of its folder.
  let name: String
  let folder: StateFolder
  /// The address; nil for a gateway that runs on the folder and writes its addresses there.
  let address: GatewayAddress?
  /// The known addresses of the other gateways of its cluster, which have the same devices and pushes.
  var others: [GatewayAddress] = []

  /// The name of the gateway of this machine.
  static let localName = "local"

  var isRemote: Bool { address != nil }

  /// Advice to reach a remote gateway, as the end of a sentence.
  static let elsewhere = "; for a remote gateway use `pushcli join CODE@HOST` or `pushcli login HOST`"

  /// The path of the certificates to trust: the gateway's CA, or the system's certificates for a remote gateway with a
  /// public certificate.
  var trustPath: String {
    let own = folder.trustPath
    guard isRemote, !FileManager.default.fileExists(atPath: own) else { return own }
    return SystemTrust.path
  }

  /// The advice for a gateway that has a public certificate instead of one from the CA stored here.
  ///
  /// The program never makes that change without the user: the stored CA excludes every other issuer. A public
  /// certificate for the host name proves only that its owner once controlled the name or the network to it.
  var remedy: String? {
    guard isRemote, FileManager.default.fileExists(atPath: folder.trustPath) else { return nil }
    return "name its new ca.pem with --ca FILE, run `pushcli join` again, or, if its operator has changed to a public "
      + "certificate, run `pushcli contexts trust \(name)`"
  }

  /// Returns the path of the certificates to trust at an address: for an address where this folder's own gateway
  /// listens, the certificate that it presents.
  func trustPath(at address: GatewayAddress) -> String {
    let shown = folder.shownCertificatePath
    guard !isRemote, FileManager.default.fileExists(atPath: shown),
      folder.listening.contains(where: { $0 == address || $0.reachable == address })
    else { return trustPath }
    return shown
  }

  /// Returns the same gateway with other addresses, of which the first is tried first.
  func reached(at addresses: [GatewayAddress]) -> GatewayContext {
    let rest = ([address].compactMap(\.self) + others).filter { !addresses.contains($0) }
    return GatewayContext(
      name: name, folder: folder, address: addresses.first, others: Array(addresses.dropFirst()) + rest)
  }

  /// Stores the addresses of the gateways of the cluster, which have the same devices and pushes.
  ///
  /// - Parameter addresses: all addresses; empty for a gateway without a cluster.
  func remember(_ addresses: [GatewayAddress]) {
    let present = Place.read(in: folder)
    guard present != nil || !addresses.isEmpty else { return }
    var place = present ?? Place(gateway: address?.description ?? name)
    place.gateways = addresses.isEmpty ? nil : addresses.map(\.description)
    // After a failure, the next connection reports the addresses again.
    try? place.save(in: folder)
  }

  /// The content of `gateway.json`.
  struct Place: Codable {
    var gateway: String
    /// The addresses of all gateways of the cluster, as the gateways report them; nil for a gateway without a cluster.
    var gateways: [String]?

    /// Returns the addresses of the others, without the given one.
    func others(than address: GatewayAddress?) -> [GatewayAddress] {
      (gateways ?? []).prefix(Limits.maximumGateways + 1).compactMap(GatewayAddress.init(line:)).filter {
        $0 != address
      }
    }

    private static func path(in folder: StateFolder) -> String { folder.path + "/gateway.json" }

    static func read(in folder: StateFolder) -> Place? {
      FileManager.default.contents(atPath: path(in: folder)).flatMap { try? decodeJSON(Place.self, from: $0) }
    }

    func save(in folder: StateFolder) throws {
      try PrivateFile.replace(Place.path(in: folder), with: Array(try JSONEncoder().encode(self)))
    }
  }
}
