import Glibc
import PushCore

/// A folder that the user names for keys.
enum SecretsFolder {
  /// Makes the folder, accessible to its owner only, if it does not exist.
  ///
  /// - Throws: ``CommandFailure`` if the folder can't be written, before anything is made that would be lost.
  static func make(_ path: String) throws(CommandFailure) {
    if unsafe access(path, F_OK) != 0 { try? PrivateFile.createFolder(path) }
    guard unsafe access(path, W_OK | X_OK) == 0 else {
      throw CommandFailure(.failed, "this user can't write to the folder \(path): name another one with --out")
    }
  }
}
