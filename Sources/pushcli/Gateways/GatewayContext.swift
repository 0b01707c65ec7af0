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

  /// The gateway of this machine.
  static let localName = "local"

  var isRemote: Bool { address != nil }

  /// The certificates to trust: the gateway's authority, or for a gateway that has a certificate from elsewhere those that
  /// this system trusts.
  var trustPath: String {
    let own = folder.trustPath
    guard isRemote, !FileManager.default.fileExists(atPath: own) else { return own }
    return GatewayContext.systemTrustPath
  }

  /// The authorities that Debian trusts.
  static let systemTrustPath = "/etc/ssl/certs/ca-certificates.crt"

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

    private static func path(in folder: StateFolder) -> String { folder.path + "/gateway.json" }

    static func read(in folder: StateFolder) -> Place? {
      FileManager.default.contents(atPath: path(in: folder)).flatMap { try? decodeJSON(Place.self, from: $0) }
    }

    func save(in folder: StateFolder) throws {
      try PrivateFile.replace(Place.path(in: folder), with: Array(try JSONEncoder().encode(self)))
    }
  }
}
