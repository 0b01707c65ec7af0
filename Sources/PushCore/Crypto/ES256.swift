import COpenSSL

/// A P-256 key for ES256 (RFC 7518 §3.4): a provider's private key, or the public key that the gateway stores.
///
/// `@unchecked Sendable`: an `EVP_PKEY` is not modified after its creation, and OpenSSL counts references atomically.
@safe package final class ES256Key: @unchecked Sendable {
  private let handle: OpaquePointer

  private init(owning handle: OpaquePointer) throws(TLSError) {
    guard unsafe EVP_PKEY_get_base_id(handle) == EVP_PKEY_EC, unsafe EVP_PKEY_get_bits(handle) == 256 else {
      unsafe EVP_PKEY_free(handle)
      throw TLSError("not a P-256 key")
    }
    unsafe self.handle = unsafe handle
  }

  deinit { unsafe EVP_PKEY_free(handle) }

  package static func generate() throws(TLSError) -> ES256Key {
    guard let handle = unsafe COpenSSL_generate_p256() else { throw TLSError(openSSL: "no key can be made") }
    return try unsafe ES256Key(owning: handle)
  }

  /// Reads a private key in PEM, such as a `.p8` file.
  ///
  /// - Throws: ``TLSError`` if the text has no P-256 private key.
  package convenience init(privatePEM pem: [UInt8]) throws {
    let bio = unsafe PEM.reader(pem)
    defer { unsafe BIO_free(bio) }
    // The callback returns an empty password, so that OpenSSL does not prompt for one on the terminal.
    guard let handle = unsafe PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil) else {
      ERR_clear_error()
      throw TLSError("not a private key in PEM form (-----BEGIN PRIVATE KEY-----)")
    }
    try unsafe self.init(owning: handle)
  }

  /// Reads a private or public key in PEM.
  ///
  /// - Throws: ``TLSError`` if the text has no P-256 key.
  package convenience init(pem: [UInt8]) throws {
    let bio = unsafe PEM.reader(pem)
    defer { unsafe BIO_free(bio) }
    if let handle = unsafe PEM_read_bio_PUBKEY(bio, nil, { _, _, _, _ in 0 }, nil) {
      try unsafe self.init(owning: handle)
    } else {
      ERR_clear_error()
      try self.init(privatePEM: pem)
    }
  }

  /// Reads a public key as `SubjectPublicKeyInfo` in DER.
  package convenience init(publicDER der: [UInt8]) throws(TLSError) {
    let key = unsafe der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return unsafe d2i_PUBKEY(nil, &start, buffer.count)
    }
    guard let key = unsafe key else { throw TLSError(openSSL: "not a public key") }
    try unsafe self.init(owning: key)
  }

  /// The public key as `SubjectPublicKeyInfo` in DER.
  package var publicDER: [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    let size = unsafe i2d_PUBKEY(handle, &bytes)
    defer { unsafe CRYPTO_free(bytes, #file, #line) }
    return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: max(0, Int(size))))
  }

  /// The size in bytes of an uncompressed point (SEC 1 §2.3.3).
  package static let pointSize = 65
  /// The first bytes of a 91-byte `SubjectPublicKeyInfo`, up to an uncompressed point: id-ecPublicKey with prime256v1.
  private static let pointHead: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
    0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  /// Reads a public key as an uncompressed point, the form of Web Push.
  ///
  /// - Throws: ``TLSError`` if the bytes are not a point of the curve.
  package convenience init(publicPoint point: some Collection<UInt8>) throws(TLSError) {
    guard point.count == ES256Key.pointSize, point.first == 4 else { throw TLSError("not an uncompressed P-256 point") }
    try self.init(publicDER: ES256Key.pointHead + point)
  }

  /// The public key as an uncompressed point.
  package var publicPoint: [UInt8] { Array(publicDER.suffix(ES256Key.pointSize)) }

  /// Returns the shared secret of this private key and the public key of a peer (ECDH, NIST SP 800-56A §5.7.1.2).
  package func sharedSecret(with peer: ES256Key) throws(TLSError) -> [UInt8] {
    let context = unsafe EVP_PKEY_CTX_new(handle, nil)
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var secret = [UInt8](repeating: 0, count: 32)
    var size = secret.count
    ERR_clear_error()
    guard unsafe EVP_PKEY_derive_init(context) == 1, unsafe EVP_PKEY_derive_set_peer(context, peer.handle) == 1,
      unsafe EVP_PKEY_derive(context, &secret, &size) == 1, size == secret.count
    else { throw TLSError(openSSL: "the keys have no shared secret") }
    return secret
  }

  /// The private key in PEM (PKCS #8), in the form of Apple's `.p8` files.
  ///
  /// The inner `ECPrivateKey` also names the curve (RFC 5915 §3): some libraries read it there, and OpenSSL leaves it
  /// out. A key whose `ECPrivateKey` has another size is written in OpenSSL's own form.
  package var privatePEM: [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    let size = unsafe i2d_PrivateKey(handle, &bytes)
    defer { unsafe CRYPTO_free(bytes, #file, #line) }
    guard size == ES256Key.privateSize else {
      return unsafe PEM.bytes { unsafe PEM_write_bio_PKCS8PrivateKey($0, handle, nil, nil, 0, nil, nil) }
    }
    let der = unsafe ES256Key.privateHead + UnsafeBufferPointer(start: bytes, count: Int(size))
    return unsafe PEM.bytes { unsafe PEM_write_bio($0, "PRIVATE KEY", "", der, der.count) > 0 ? 1 : 0 }
  }

  /// The size in bytes of a P-256 `ECPrivateKey` with the name of the curve and the uncompressed public key.
  private static let privateSize: Int32 = 121
  /// The first bytes of a 147-byte `PrivateKeyInfo`, up to an `ECPrivateKey` of ``privateSize`` bytes: version 0,
  /// id-ecPublicKey with prime256v1.
  private static let privateHead: [UInt8] = [
    0x30, 0x81, 0x93, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
    0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x04, 0x79,
  ]

  /// The signature algorithm of a message.
  package enum Algorithm: String, Sendable {
    case es256 = "ES256"
    /// The ES512 of one library, with a P-256 key although RFC 7518 §3.4 requires another curve: SHA-512, and halves
    /// of 66 bytes with leading zeros.
    case es512 = "ES512"

    /// The size in bytes of each half of a raw signature.
    fileprivate var halfSize: Int { self == .es256 ? 32 : 66 }
  }

  /// Returns true if `signature` is a signature of `message` by this key: either raw `r‖s`, 64 bytes for ES256, or
  /// ASN.1 DER (reference §4.3).
  package func verifies(
    _ signature: [UInt8], of message: some Sequence<UInt8>, by algorithm: Algorithm = .es256
  ) -> Bool {
    let message = Array(message)
    // A raw signature may begin with 0x30 like DER, so the length decides first.
    let isRaw = signature.count == 2 * algorithm.halfSize
    guard let der = isRaw ? ES256Key.der(fromRaw: signature) : signature, der.first == 0x30 else { return false }
    let digest = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(digest) }
    ERR_clear_error()
    defer { ERR_clear_error() }
    guard unsafe EVP_DigestVerifyInit(digest, nil, algorithm == .es256 ? EVP_sha256() : EVP_sha512(), nil, handle) == 1
    else { return false }
    return unsafe EVP_DigestVerify(digest, der, der.count, message, message.count) == 1
  }

  /// Returns the signature of `message` as raw `r‖s`, 64 bytes for ES256.
  package func signature(of message: [UInt8], by algorithm: Algorithm = .es256) throws -> [UInt8] {
    let digest = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(digest) }
    var size = 80
    var der = [UInt8](repeating: 0, count: size)
    guard unsafe EVP_DigestSignInit(digest, nil, algorithm == .es256 ? EVP_sha256() : EVP_sha512(), nil, handle) == 1,
      unsafe EVP_DigestSign(digest, &der, &size, message, message.count) == 1
    else { throw TLSError(openSSL: "the key can't sign") }
    return ES256Key.raw(fromDER: Array(der.prefix(size)), halfSize: algorithm.halfSize)
  }

  /// Calls `body` with the OpenSSL handle, which the certificate code needs. The key continues to own the handle.
  package func withHandle<Value>(_ body: (OpaquePointer) throws -> Value) rethrows -> Value { try unsafe body(handle) }

  private static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
    let signature = unsafe ECDSA_SIG_new()
    defer { unsafe ECDSA_SIG_free(signature) }
    let half = raw.count / 2
    let r = unsafe BN_bin2bn(Array(raw.prefix(half)), Int32(half), nil)
    let s = unsafe BN_bin2bn(Array(raw.suffix(half)), Int32(half), nil)
    guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else { return nil }
    var bytes: UnsafeMutablePointer<UInt8>?
    let size = unsafe i2d_ECDSA_SIG(signature, &bytes)
    defer { unsafe CRYPTO_free(bytes, #file, #line) }
    guard size > 0 else { return nil }
    return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: Int(size)))
  }

  private static func raw(fromDER der: [UInt8], halfSize: Int) -> [UInt8] {
    let signature = unsafe der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return unsafe d2i_ECDSA_SIG(nil, &start, buffer.count)
    }
    defer { unsafe ECDSA_SIG_free(signature) }
    var raw = [UInt8](repeating: 0, count: 2 * halfSize)
    unsafe raw.withUnsafeMutableBufferPointer { buffer in
      unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), buffer.baseAddress, Int32(halfSize))
      unsafe BN_bn2binpad(ECDSA_SIG_get0_s(signature), buffer.baseAddress.map { unsafe $0 + halfSize }, Int32(halfSize))
    }
    return raw
  }
}

/// PEM text in a memory BIO.
package enum PEM {
  /// Returns a BIO that reads a copy of `bytes`, owned by the caller; nil if there is not enough memory.
  ///
  /// `BIO_new_mem_buf` is not used, because it would keep a pointer to bytes that can be freed earlier.
  package static func reader(_ bytes: [UInt8]) -> OpaquePointer? {
    let bio = unsafe BIO_new(BIO_s_mem())
    let count = Int32(clamping: bytes.count)
    if count == 0 { return unsafe bio }
    guard unsafe BIO_write(bio, bytes, count) == count else {
      unsafe BIO_free(bio)
      return nil
    }
    return unsafe bio
  }

  /// Returns the next certificate in a BIO, owned by the caller; nil if there is none, or it is encrypted.
  package static func certificate(in bio: OpaquePointer?) -> OpaquePointer? {
    unsafe PEM_read_bio_X509(bio, nil, { _, _, _, _ in 0 }, nil)
  }

  package static func bytes(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
    let bio = unsafe BIO_new(BIO_s_mem())
    defer { unsafe BIO_free(bio) }
    guard unsafe write(bio) == 1 else { return [] }
    var data: UnsafeMutablePointer<CChar>?
    let size = unsafe COpenSSL_bio_get_mem_data(bio, &data)
    return unsafe [UInt8](UnsafeRawBufferPointer(start: data, count: size))
  }
}

package enum Digest {
  /// SHA-256 (FIPS 180-4).
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: 32)
    unsafe EVP_Digest(bytes, bytes.count, &result, nil, EVP_sha256(), nil)
    return result
  }

  /// HMAC (RFC 2104) with SHA-256.
  package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    let short = key.count > blockSize ? sha256(key) : key
    let block = short + [UInt8](repeating: 0, count: blockSize - short.count)
    return sha256(block.map { $0 ^ 0x5C } + sha256(block.map { $0 ^ 0x36 } + bytes))
  }

  /// The size of the blocks of SHA-256 in bytes.
  private static let blockSize = 64

  /// Derives a key of at most 32 bytes (HKDF with SHA-256, RFC 5869).
  package static func derivedKey(_ input: [UInt8], salt: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
    precondition((1...32).contains(count), "one block makes the key")
    let random = hmacSHA256(input, key: salt)
    return Array(hmacSHA256(info + [1], key: random).prefix(count))
  }

  /// Returns true for equal bytes. The time depends on the sizes only.
  package static func areEqual(_ one: [UInt8], _ two: [UInt8]) -> Bool {
    unsafe one.count == two.count && CRYPTO_memcmp(one, two, one.count) == 0
  }

  /// Returns the lower-case hex digits of a hash.
  package static func hex(_ hash: [UInt8]) -> String {
    String(decoding: hash.flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
  }
}
