import Foundation
import PushCore

/// The gateway that a package runs as a service of this machine.
enum MachineService {
  /// Its state folder, which only its user `pushgateway` and root may read.
  static let folder = "/var/lib/pushgateway"

  /// What to say to somebody who found no gateway in a folder of their own, after a first clause; empty where this machine has
  /// no such service.
  static func hint(besides other: StateFolder) -> String {
    guard other.path != folder, FileManager.default.fileExists(atPath: folder) else { return "" }
    return "; this machine's gateway takes `sudo -u pushgateway pushcli`"
  }
}
