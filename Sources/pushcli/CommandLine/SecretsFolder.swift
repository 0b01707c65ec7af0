import Glibc
import PushCore

/// A folder that a person names for keys.
enum SecretsFolder {
  /// Makes it, for its owner alone, if it is not there.
  ///
  /// - Throws: ``CommandFailure`` when nothing can be written there, before anything is made that would be lost.
  static func make(_ path: String) throws(CommandFailure) {
    if unsafe access(path, F_OK) != 0 { try? PrivateFile.createFolder(path) }
    guard unsafe access(path, W_OK | X_OK) == 0 else {
      throw CommandFailure(.failed, "\(path) can't be written: name another folder with --out")
    }
  }
}
