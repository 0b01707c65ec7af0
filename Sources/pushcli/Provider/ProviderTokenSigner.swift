import Foundation
import PushCore

extension ProviderTokenSigner {
  /// Reads the key.
  ///
  /// - Throws: ``CommandFailure`` if the file is not an APNs key.
  init(path: String, keyID: String, teamID: String) throws {
    guard let pem = contents(ofFile: path) else {
      throw ProviderTokenSigner.unreadable(path)
    }
    let key: ES256Key
    do {
      key = try ES256Key(privatePEM: Array(pem))
    } catch {
      throw CommandFailure(.notAuthorized, "\(path) is not an APNs key (\(error)): name the .p8 file with --key")
    }
    self.init(key: key, keyID: keyID, teamID: teamID)
  }

  /// Reads the key that the options of a command name, or the development key if `--key` is missing.
  ///
  /// Without `--key-id`, the ID is the one in the file's name, AuthKey_KEYID.p8. Without `--team`, the team is the
  /// development team, with its key.
  ///
  /// - Throws: ``CommandFailure`` that names the missing option.
  init(_ options: SigningOptions?, development: StateFolder.Development?) throws {
    guard let path = options?.key ?? development?.keyPath else {
      throw CommandFailure(.notAuthorized, "there is no key: name a .p8 file with --key, --key-id and --team")
    }
    guard FileManager.default.isReadableFile(atPath: path) else {
      throw ProviderTokenSigner.unreadable(path)
    }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let named = name.hasPrefix("AuthKey_") && name.hasSuffix(".p8") ? String(name.dropFirst(8).dropLast(3)) : nil
    guard let keyID = options?.keyID ?? named else {
      throw CommandFailure(.usage, "--key-id is missing: \(name) does not contain it, as AuthKey_KEYID.p8 does")
    }
    guard let team = options?.team ?? (keyID == development?.keyID ? development?.teamID : nil) else {
      throw CommandFailure(.usage, "--team is missing: the team of key \(keyID)")
    }
    try self.init(path: path, keyID: keyID, teamID: team)
  }

  private static func unreadable(_ path: String) -> CommandFailure {
    let reason = UnreadableFile.reason(of: path)
    return CommandFailure(.usage, "\(path) can't be read: \(reason); name the .p8 file with --key")
  }
}
