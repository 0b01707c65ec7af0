import Foundation
import Glibc
package import PushCore

/// What a device knows of itself, kept in the state folder with mode 0600.
package struct Credentials: Codable, Sendable {
  /// Its public identifier.
  package var device: String
  package var name: String
  package var secret: String
  /// Whose it is; nil where an earlier version has kept nothing of it.
  package var person: String?
  /// What it may do (``Role``).
  package var role: String?

  /// The credentials of a device that was enrolled here; nil when it was not.
  package static func read(_ name: String, in folder: StateFolder) throws -> Credentials? {
    let path = path(of: name, in: folder)
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    guard let credentials = try? decodeJSON(Credentials.self, from: data) else {
      throw DeviceError(.storage, "\(path) is damaged: delete it and enroll the device under another name")
    }
    return credentials
  }

  /// The names of the devices that were enrolled here, in their order.
  package static func names(in folder: StateFolder) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.devicesPath)) ?? []
    return files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
  }

  /// Writes them where ``read(_:in:)`` finds them.
  package func save(in folder: StateFolder) throws {
    let path = Credentials.path(of: name, in: folder)
    let bytes = Array(try JSONEncoder().encode(self))
    do {
      try PrivateFile.createFolder(folder.devicesPath)
      try PrivateFile.replace(path, with: bytes)
    } catch {
      throw DeviceError(.storage, "\(path) can't be written (\(error)): check the folder's permissions")
    }
  }

  /// Forgets a device that the gateway has forgotten, and up to where it had received.
  package static func remove(_ name: String, from folder: StateFolder) {
    for path in [path(of: name, in: folder), folder.devicesPath + "/" + name + ".cursor"] {
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  private static func path(of name: String, in folder: StateFolder) -> String {
    folder.devicesPath + "/" + name + ".json"
  }
}
