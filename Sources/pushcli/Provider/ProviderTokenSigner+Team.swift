import Foundation
import GatewayProtocol
import PushCore

extension ProviderTokenSigner {
  /// Finds a private key of the team that owns an app, in the working folder or the state folder.
  ///
  /// - Parameters:
  ///   - topic: the topic of a push: the app's, or one with a suffix such as `.voip`.
  ///   - development: the development team, whose key is in the state folder.
  /// - Returns: nil if the app has no team or the development team, and if this machine may not query the gateway.
  /// - Throws: ``CommandFailure`` that names the team and its keys, if none of them is found.
  static func find(
    for topic: String, except development: String?, _ state: StateOptions
  ) async throws -> ProviderTokenSigner? {
    guard try Admin.isPossible(at: state.context), let admin = try? await Admin(state),
      let team = try? await team(of: topic, admin), team != development,
      let keys: [KeyRecord] = try? await admin.get(AdminPath.keys())
    else { return nil }
    let own = keys.filter { $0.team == team && $0.topics.map { $0.contains(topic) } ?? true }.map(\.id)
    let folders = [".", try state.folder.path]
    for id in own {
      for path in folders.map({ "\($0)/AuthKey_\(id).p8" }) where FileManager.default.isReadableFile(atPath: path) {
        return try ProviderTokenSigner(path: path, keyID: id, teamID: team)
      }
    }
    let advice =
      own.isEmpty
      ? "it has no key yet: `pushcli keys create --team \(team)`"
      : "name one of its keys with --key FILE: AuthKey_\(own.prefix(3).joined(separator: ".p8, AuthKey_")).p8"
    throw CommandFailure(.notAuthorized, "\(topic) is an app of team \(team): \(advice)")
  }

  /// Returns the team of an app; nil if it has none or there is no such app.
  private static func team(of topic: String, _ admin: Admin) async throws -> String? {
    let stem = topic.lastIndex(of: ".").map { String(topic[..<$0]) }
    for name in [topic, stem].compactMap(\.self) {
      if let app = try await AppRow.known(name, admin) { return app.team }
    }
    return nil
  }
}
