import Foundation
import Glibc
import PushCore

/// The folder in which the clients save attachments.
enum DownloadFolder {
  /// The folder `Downloads` of the user, if there is one; else the current folder.
  static var path: String {
    let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
    var isFolder: ObjCBool = false
    let path = home + "/Downloads"
    let exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    return exists && isFolder.boolValue ? path : FileManager.default.currentDirectoryPath
  }

  /// The number of names that are tried for a file.
  private static let maximumNames = 100

  /// Creates a file. If the name is taken, the name gets a number, as `report (2).txt`.
  ///
  /// - Parameter name: the name of the file, which is sanitized again.
  /// - Returns: the path.
  /// - Throws: the error of the system.
  static func save(_ content: [UInt8], as name: String, in folder: String) throws(SystemError) -> String {
    let name = AttachmentName.sanitized(name)
    for number in 1...maximumNames {
      let path = "\(folder)/\(numbered(name, number))"
      do {
        try PrivateFile.create(content, at: path)
        return path
      } catch {
        guard error.code == EEXIST else { throw error }
      }
    }
    throw SystemError(EEXIST)
  }

  /// Returns a name with a number before its ending; the first one without a number.
  static func numbered(_ name: String, _ number: Int) -> String {
    guard number > 1 else { return name }
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(name) (\(number))" }
    return "\(name[..<dot]) (\(number))\(name[dot...])"
  }
}
