import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

/// A gateway as this machine knows it: the one that runs here, or one that was joined or logged in to.
///
/// What is known of one elsewhere has a folder of its own, laid out as a state folder is: `gateway.json` has its address,
/// `ca.pem` its authority, `devices/` the secrets of this machine's devices, `login.json` an administrator's bearer.
struct GatewayContext {
  /// `local`, or what its folder is called.
  let name: String
  let folder: StateFolder
  /// Where it is; nil: it runs on the folder, and says there where it listens.
  let address: GatewayAddress?
  /// Where the gateways are that have the same devices and pushes, as far as it is known.
  var others: [GatewayAddress] = []

  /// The gateway of this machine.
  static let localName = "local"

  var isRemote: Bool { address != nil }

  /// How a gateway elsewhere becomes known here, as the end of a sentence.
  static let elsewhere = "; a gateway elsewhere takes `pushcli join CODE@HOST` or `pushcli login HOST`"

  /// The certificates to trust: the gateway's authority, or for a gateway that has a certificate from elsewhere those that
  /// this system trusts.
  var trustPath: String {
    let own = folder.trustPath
    guard isRemote, !FileManager.default.fileExists(atPath: own) else { return own }
    return SystemTrust.path
  }

  /// The command for a gateway that has a public certificate instead of one of the CA that is stored here.
  ///
  /// That change is never made without the person: the stored CA excludes every other issuer. A public certificate for the host name
  /// proves only that its owner once controlled the name or the network to it.
  var remedy: String? {
    guard isRemote, FileManager.default.fileExists(atPath: folder.trustPath) else { return nil }
    return "if its operator has changed to a public certificate, run `pushcli contexts trust \(name)`"
  }

  /// The certificates to trust at an address: where this folder's own gateway listens, the one that it shows.
  func trustPath(at address: GatewayAddress) -> String {
    let shown = folder.shownCertificatePath
    guard !isRemote, FileManager.default.fileExists(atPath: shown),
      folder.listening.contains(where: { $0 == address || $0.reachable == address })
    else { return trustPath }
    return shown
  }

  /// The same reached at other addresses, of which the first is tried first.
  func reached(at addresses: [GatewayAddress]) -> GatewayContext {
    let rest = ([address].compactMap(\.self) + others).filter { !addresses.contains($0) }
    return GatewayContext(
      name: name, folder: folder, address: addresses.first, others: Array(addresses.dropFirst()) + rest)
  }

  /// Keeps where the gateways are that have the same devices and pushes.
  ///
  /// - Parameter addresses: all of them; none: the gateway is alone.
  func remember(_ addresses: [GatewayAddress]) {
    let present = Place.read(in: folder)
    guard present != nil || !addresses.isEmpty else { return }
    var place = present ?? Place(gateway: address?.description ?? name)
    place.gateways = addresses.isEmpty ? nil : addresses.map(\.description)
    // It is told again at the next connect.
    try? place.save(in: folder)
  }

  /// An administrator's bearer: what ``LoginCommand`` keeps.
  struct Login: Codable {
    var token: String

    private static func path(in folder: StateFolder) -> String { folder.path + "/login.json" }

    static func read(in folder: StateFolder) -> Login? {
      FileManager.default.contents(atPath: path(in: folder)).flatMap { try? decodeJSON(Login.self, from: $0) }
    }

    func save(in folder: StateFolder) throws {
      try PrivateFile.replace(Login.path(in: folder), with: Array(try JSONEncoder().encode(self)))
    }
  }

  /// `gateway.json`.
  struct Place: Codable {
    var gateway: String
    /// All that have the same devices and pushes, as gateways tell it; nil where there is one alone.
    var gateways: [String]?

    /// The others besides one.
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
