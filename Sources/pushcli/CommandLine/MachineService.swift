import Foundation
import PushCore

/// The gateway that a package runs as a service of this machine.
enum MachineService {
  /// Its state folder, which only its user `pushgateway` and root may read.
  static let folder = "/var/lib/pushgateway"

  /// Returns advice for users without a gateway in their own folder, to append to a clause; empty if this machine has
  /// no such service.
  static func hint(besides other: StateFolder) -> String {
    guard other.path != folder, FileManager.default.fileExists(atPath: folder) else { return "" }
    return "; this machine's gateway takes `sudo -u pushgateway pushcli`"
  }
}
