import Foundation
import GatewayProtocol
import PushCore

extension StateFolder {
  /// The addresses at which the gateway of this folder listens, from the file that it writes; empty until a gateway is
  /// ready.
  var listening: [GatewayAddress] {
    let text = FileManager.default.contents(atPath: listeningPath).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return text.split(separator: "\n").compactMap { try? GatewayAddress(String($0)) }
  }

  /// The development key that the first start of a gateway made.
  var development: Development? {
    FileManager.default.contents(atPath: developmentPath).flatMap { try? decodeJSON(Development.self, from: $0) }
  }

  private var loginPath: String { path + "/login.json" }

  /// An administrator's bearer token, as stored by ``Login``.
  var loginToken: String? {
    guard let data = FileManager.default.contents(atPath: loginPath) else { return nil }
    return (try? decodeJSON([String: String].self, from: data))?["token"]
  }

  func saveLogin(token: String) throws {
    try PrivateFile.replace(loginPath, with: Array(try JSONEncoder().encode(["token": token])))
  }

  /// The folder of the gateway that a package runs as a service of this machine. Only its user `pushgateway` and root
  /// may read it.
  private static let servicePath = "/var/lib/pushgateway"

  /// Advice for users without a gateway in this folder, to append to a clause; empty if this machine has no such
  /// service.
  var serviceHint: String {
    guard path != StateFolder.servicePath, FileManager.default.fileExists(atPath: StateFolder.servicePath) else {
      return ""
    }
    return "; for the service of this machine use `sudo -u pushgateway pushcli`"
  }
}
