import Foundation
import Glibc
package import PushCore

/// The credentials of an enrolled device, stored in the state folder with mode 0600.
package struct Credentials: Codable, Sendable {
  /// The public identifier of the device.
  package var device: String
  package var name: String
  package var secret: String
  /// The name of the device's user; nil if an earlier version stored none.
  package var person: String?
  /// The raw value of the device's ``Role``.
  package var role: String?

  /// Reads the credentials of a device that was enrolled on this machine; nil if there are none.
  ///
  /// - Throws: ``ClientError`` when the file is damaged.
  package static func read(_ name: String, in folder: StateFolder) throws -> Credentials? {
    let path = path(of: name, in: folder)
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    guard let credentials = try? decodeJSON(Credentials.self, from: data) else {
      throw ClientError(.storage, "\(path) is damaged: delete it and enroll the device under another name")
    }
    return credentials
  }

  /// Returns the names of the devices that were enrolled on this machine, sorted.
  package static func names(in folder: StateFolder) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.devicesPath)) ?? []
    return files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
  }

  /// Writes the credentials to the file that ``read(_:in:)`` reads.
  ///
  /// - Throws: ``ClientError`` when the file can't be written.
  package func save(in folder: StateFolder) throws {
    let path = Credentials.path(of: name, in: folder)
    let bytes = Array(try JSONEncoder().encode(self))
    do {
      try PrivateFile.createFolder(folder.devicesPath)
      try PrivateFile.replace(path, with: bytes)
    } catch {
      throw ClientError(.storage, "\(path) can't be written (\(error)): check the folder's permissions")
    }
  }

  /// Deletes the credentials, the cursor and the keys of endpoints of a device that the gateway has removed.
  package static func remove(_ name: String, from folder: StateFolder) {
    for endpoint in WebPushKeys.all(of: name, in: folder) { WebPushKeys.remove(endpoint.tag, of: name, in: folder) }
    for path in [path(of: name, in: folder), folder.devicesPath + "/" + name + ".cursor"] {
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  private static func path(of name: String, in folder: StateFolder) -> String {
    folder.devicesPath + "/" + name + ".json"
  }
}
