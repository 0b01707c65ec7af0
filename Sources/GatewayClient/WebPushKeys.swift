import Foundation
package import PushCore

/// A Web Push endpoint of a device with its keys, stored in the state folder with mode 0600. The gateway never gets the keys.
package struct WebPushKeys: Codable, Sendable, Equatable {
  /// The name of the endpoint, unique for the device.
  package var name: String
  /// The topic of its app.
  package var app: String
  /// The address to which senders post.
  package var url: String
  /// The private key in PEM.
  private var key: String
  /// The authentication secret in base64url.
  package let auth: String

  /// Generates the keys of an endpoint.
  package init(name: String, app: String, url: String) throws {
    (self.name, self.app, self.url) = (name, app, url)
    key = String(decoding: try ES256Key.generate().privatePEM, as: UTF8.self)
    auth = Base64URL.encode(randomBytes(count: WebPushEncryption.secretSize))
  }

  /// The public key in base64url, for senders.
  package var publicKey: String { get throws { Base64URL.encode(try privateKey.publicPoint) } }

  private var privateKey: ES256Key { get throws { try ES256Key(privatePEM: Array(key.utf8)) } }

  /// Decrypts a message of a sender; nil if it was not encrypted for these keys.
  func open(_ content: [UInt8]) -> [UInt8]? {
    guard let key = try? privateKey, let secret = Base64URL.decode(auth.utf8) else { return nil }
    return try? WebPushEncryption.open(content, by: key, secret: secret)
  }

  // MARK: Files

  private static let ending = ".webpush"

  private static func path(_ tag: String, of device: String, in folder: StateFolder) -> String {
    "\(folder.devicesPath)/\(device).\(tag)\(ending)"
  }

  /// Reads the keys of the endpoint with a tag (`WebPushEnvelope.tag(of:)`); nil if the file is missing or invalid.
  static func read(_ tag: String, of device: String, in folder: StateFolder) -> WebPushKeys? {
    // The tag comes from the gateway and becomes a part of a path.
    guard !tag.isEmpty, tag.utf8.allSatisfy({ hexValue($0) != nil }),
      let data = FileManager.default.contents(atPath: path(tag, of: device, in: folder))
    else { return nil }
    return try? decodeJSON(WebPushKeys.self, from: data)
  }

  /// Returns the keys of all endpoints of a device with their tags, sorted by name.
  package static func all(of device: String, in folder: StateFolder) -> [(tag: String, keys: WebPushKeys)] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.devicesPath)) ?? []
    let opening = device + "."
    let tags = files.filter { $0.hasPrefix(opening) && $0.hasSuffix(ending) }.map {
      String($0.dropFirst(opening.count).dropLast(ending.count))
    }
    let found = tags.compactMap { tag in read(tag, of: device, in: folder).map { (tag: tag, keys: $0) } }
    return found.sorted { $0.keys.name < $1.keys.name }
  }

  /// Writes the keys to a file.
  ///
  /// - Throws: ``ClientError`` when the file can't be written.
  package func save(_ tag: String, of device: String, in folder: StateFolder) throws {
    let path = WebPushKeys.path(tag, of: device, in: folder)
    let bytes = Array(try JSONEncoder().encode(self))
    do {
      try PrivateFile.createFolder(folder.devicesPath)
      try PrivateFile.replace(path, with: bytes)
    } catch {
      throw ClientError(.storage, "\(path) can't be written (\(error)): check the folder's permissions")
    }
  }

  /// Deletes the keys of an endpoint: its pending messages can't be read any more.
  package static func remove(_ tag: String, of device: String, in folder: StateFolder) {
    try? FileManager.default.removeItem(atPath: path(tag, of: device, in: folder))
  }
}
