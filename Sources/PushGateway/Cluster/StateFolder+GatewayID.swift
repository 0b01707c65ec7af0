import Foundation
import PushCore

extension StateFolder {
  /// Returns the id by which the other gateways of a cluster know the folder's gateway; created at the first start in
  /// a cluster.
  func gatewayID() throws(Failure) -> String {
    if let known = FileManager.default.contents(atPath: gatewayIDPath).map({ String(decoding: $0, as: UTF8.self) }) {
      let id = known.trimmingCharacters(in: .whitespacesAndNewlines)
      if id.utf8.count == StateFolder.gatewayIDSize, id.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) {
        return id
      }
    }
    let id = String(randomUUID().lowercased().filter(\.isHexDigit).prefix(StateFolder.gatewayIDSize))
    try write(Array((id + "\n").utf8), to: gatewayIDPath, mode: 0o600)
    return id
  }

  private static let gatewayIDSize = 12
}
