import COpenSSL

/// The encryption of Web Push messages (RFC 8291): one record of `aes128gcm` (RFC 8188) for the key of a subscription.
package enum WebPushEncryption {
  /// The size of the authentication secret of a subscription in bytes (RFC 8291 §3.2).
  package static let secretSize = 16
  /// The size of the tag of AES-GCM in bytes.
  fileprivate static let tagSize = 16
  /// The size of the salt of a message in bytes.
  fileprivate static let saltSize = 16
  /// The record size that ``seal(_:for:secret:by:salt:)`` writes: as large as a message may be.
  private static let recordSize = 4096

  /// Decrypts a message.
  ///
  /// - Parameters:
  ///   - key: the private key of the subscription.
  ///   - secret: the authentication secret of the subscription.
  package static func open(_ body: [UInt8], by key: ES256Key, secret: [UInt8]) throws(WebPushFault) -> [UInt8] {
    let record = try WebPushRecord(body)
    guard let sender = try? ES256Key(publicPoint: record.sender), let shared = try? key.sharedSecret(with: sender)
    else { throw .key }
    let keys = RecordKeys(
      shared, secret: secret, receiver: key.publicPoint, sender: record.sender, salt: record.salt)
    guard let plain = keys.decrypt(record.content) else { throw .notAuthentic }
    // Padding is zeros after the delimiter. The delimiter of a record before the last one would be 1.
    guard let end = plain.lastIndex(where: { $0 != 0 }), plain[end] == 2 else { throw .padding }
    return Array(plain[..<end])
  }

  /// Encrypts a message, as the sender of a subscription does.
  ///
  /// - Parameters:
  ///   - receiver: the public key of the subscription.
  ///   - secret: the authentication secret of the subscription.
  ///   - key: a key pair for this message alone.
  ///   - salt: 16 random bytes for this message alone.
  /// - Throws: ``WebPushFault/tooLarge`` if the message does not fit in one record.
  package static func seal(
    _ message: [UInt8], for receiver: ES256Key, secret: [UInt8], by key: ES256Key, salt: [UInt8]
  ) throws(WebPushFault) -> [UInt8] {
    precondition(salt.count == saltSize, "a salt has 16 bytes")
    guard message.count + 1 + tagSize <= recordSize - WebPushRecord.headSize else { throw .tooLarge }
    guard let shared = try? key.sharedSecret(with: receiver) else { throw .key }
    let sender = key.publicPoint
    let keys = RecordKeys(shared, secret: secret, receiver: receiver.publicPoint, sender: sender, salt: salt)
    guard let content = keys.encrypt(message + [2]) else { throw .key }
    let size: [UInt8] = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: recordSize >> $0) }
    return salt + size + [UInt8(sender.count)] + sender + content
  }
}

/// The parts of an encrypted message, of which no part is verified yet. The gateway checks the form without the keys.
package struct WebPushRecord: Sendable {
  package let salt: [UInt8]
  /// The public key of the sender as a point.
  package let sender: [UInt8]
  /// The ciphertext with its tag.
  package let content: [UInt8]

  /// The size of salt, record size, size of the key, and key, in bytes.
  fileprivate static let headSize = WebPushEncryption.saltSize + 5 + ES256Key.pointSize
  /// The smallest record: a tag and a delimiter (RFC 8188 §2).
  private static let minimumRecordSize = WebPushEncryption.tagSize + 1

  /// - Throws: ``WebPushFault`` if the bytes are not one record with the key of a sender.
  package init(_ body: [UInt8]) throws(WebPushFault) {
    guard body.count >= WebPushRecord.headSize + WebPushRecord.minimumRecordSize else { throw .tooShort }
    let start = WebPushEncryption.saltSize
    let recordSize = body[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
    guard Int(body[start + 4]) == ES256Key.pointSize, body[start + 5] == 4 else { throw .key }
    salt = Array(body[..<start])
    sender = Array(body[start + 5..<WebPushRecord.headSize])
    content = Array(body[WebPushRecord.headSize...])
    guard recordSize > WebPushRecord.minimumRecordSize else { throw .recordSize }
    // A message is one record (RFC 8291 §4).
    guard content.count <= recordSize else { throw .severalRecords }
  }
}

/// The reason for which an encrypted message is refused.
package enum WebPushFault: Error, Sendable, Equatable, CustomStringConvertible {
  case tooShort, tooLarge, key, recordSize, severalRecords, notAuthentic, padding

  package var description: String {
    switch self {
    case .tooShort: "the body is too short for aes128gcm: expected salt, record size, key of 65 bytes and record"
    case .tooLarge: "the message is too large for one record of aes128gcm"
    case .key: "the key in the body is not an uncompressed P-256 point: expected 65 bytes that begin with 4"
    case .recordSize: "the record size in the body is too small: expected at least 18"
    case .severalRecords: "the body has several records: expected one, with a record size not below its length"
    case .notAuthentic: "the message was encrypted for another key, or was changed"
    case .padding: "the padding of the message is invalid: expected the delimiter 2 and zeros"
    }
  }
}

/// The content-encryption key and the nonce of a message.
private struct RecordKeys {
  private let key: [UInt8]
  private let nonce: [UInt8]

  /// Derives both (RFC 8291 §3.4).
  init(_ shared: [UInt8], secret: [UInt8], receiver: [UInt8], sender: [UInt8], salt: [UInt8]) {
    let info = Array("WebPush: info\0".utf8) + receiver + sender
    let input = Digest.derivedKey(shared, salt: secret, info: info, count: 32)
    key = Digest.derivedKey(input, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), count: 16)
    nonce = Digest.derivedKey(input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), count: 12)
  }

  /// Returns the plaintext; nil if the tag is wrong.
  func decrypt(_ content: [UInt8]) -> [UInt8]? {
    let text = Array(content.dropLast(WebPushEncryption.tagSize))
    var tag = Array(content.suffix(WebPushEncryption.tagSize))
    let context = unsafe EVP_CIPHER_CTX_new()
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    var plain = [UInt8](repeating: 0, count: text.count + 16)
    var rest = [UInt8](repeating: 0, count: 16)
    var (size, restSize): (Int32, Int32) = (0, 0)
    ERR_clear_error()
    defer { ERR_clear_error() }
    guard unsafe EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
      unsafe EVP_DecryptUpdate(context, &plain, &size, text, Int32(clamping: text.count)) == 1,
      unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1,
      unsafe EVP_DecryptFinal_ex(context, &rest, &restSize) == 1
    else { return nil }
    return Array(plain.prefix(Int(size)))
  }

  /// Returns the ciphertext with its tag; nil if OpenSSL fails.
  func encrypt(_ text: [UInt8]) -> [UInt8]? {
    let context = unsafe EVP_CIPHER_CTX_new()
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    var content = [UInt8](repeating: 0, count: text.count + 16)
    var rest = [UInt8](repeating: 0, count: 16)
    var tag = [UInt8](repeating: 0, count: WebPushEncryption.tagSize)
    var (size, restSize): (Int32, Int32) = (0, 0)
    ERR_clear_error()
    defer { ERR_clear_error() }
    guard unsafe EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
      unsafe EVP_EncryptUpdate(context, &content, &size, text, Int32(clamping: text.count)) == 1,
      unsafe EVP_EncryptFinal_ex(context, &rest, &restSize) == 1,
      unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
    else { return nil }
    return content.prefix(Int(size)) + tag
  }
}
