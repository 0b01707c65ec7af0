import Foundation
import PushTesting
import Testing

@testable import PushCore

@Suite struct ES256Tests {
  let key: ES256Key
  let message = Array("header.claims".utf8)

  init() throws { key = try ES256Key.generate() }

  @Test func `a signature is raw and verifies in both forms`() throws {
    // Enough rounds for an r or s that begins with a zero byte, and for a raw form that begins with 0x30.
    for round in 0..<300 {
      let message = message + [UInt8(truncatingIfNeeded: round), UInt8(round >> 8)]
      let raw = try key.signature(of: message)
      #expect(raw.count == 64)
      #expect(key.verifies(raw, of: message))
      #expect(key.verifies(der(fromRaw: raw), of: message))
    }
  }

  @Test func `one flipped bit of a raw signature fails`() throws {
    let raw = try key.signature(of: message)
    for bit in 0..<512 {
      var forged = raw
      forged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!key.verifies(forged, of: message), "bit \(bit)")
    }
  }

  @Test func `one flipped bit of a DER signature fails`() throws {
    let signature = der(fromRaw: try key.signature(of: message))
    for bit in 0..<signature.count * 8 {
      var forged = signature
      forged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!key.verifies(forged, of: message), "bit \(bit)")
    }
  }

  @Test func `one flipped bit of the message fails`() throws {
    let raw = try key.signature(of: message)
    for bit in 0..<message.count * 8 {
      var forged = message
      forged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!key.verifies(raw, of: forged))
    }
  }

  @Test func `another key's signature fails`() throws {
    let other = try ES256Key.generate()
    #expect(!key.verifies(try other.signature(of: message), of: message))
  }

  @Test(arguments: [
    [], [0x30], [0x30, 0], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xFF, count: 64),
    [UInt8](repeating: 0x30, count: 63), [UInt8](repeating: 0x30, count: 72), [UInt8](repeating: 0, count: 5000),
  ])
  func `what is no signature fails`(_ bytes: [UInt8]) {
    #expect(!key.verifies(bytes, of: message))
  }

  @Test func `a signature with bytes behind it fails`() throws {
    let raw = try key.signature(of: message)
    #expect(!key.verifies(raw + [0], of: message))
    #expect(!key.verifies(der(fromRaw: raw) + [0], of: message))
  }

  @Test func `a private key goes through PEM unchanged`() throws {
    let pem = key.privatePEM
    #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    let base64 = String(decoding: pem, as: UTF8.self).split(separator: "\n").dropFirst().dropLast().joined()
    let der = try #require(Data(base64Encoded: base64))
    // Apple's files have this size too: they contain the curve twice.
    #expect(der.count == 150)
    #expect(der.ranges(of: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]).count == 2)
    let read = try ES256Key(privatePEM: pem)
    #expect(read.publicDER == key.publicDER)
    #expect(key.verifies(try read.signature(of: message), of: message))
  }

  /// A P-256 key with a compressed public key.
  static let compressed = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXfNaht3vdt8jhpi2
    cDcpitsf0C+tAtlEwyXEuy4Pye2hRANCAATXeoYPuCYVMGQfU8exhhS9KUhOxhvX
    1ada+NICIkKsCbzHzVffFhgzkNzWMMeNgPmTFgVWYOnSH1R4OnmL4e7q
    -----END PRIVATE KEY-----
    """

  @Test(arguments: [compressed]) func `a key that was read in another form is written, too`(_ text: String) throws {
    let key = try ES256Key(privatePEM: Array(text.utf8))
    let read = try ES256Key(privatePEM: key.privatePEM)
    #expect(key.verifies(try read.signature(of: message), of: message))
  }

  @Test func `a public key goes through DER unchanged and cannot sign`() throws {
    let read = try ES256Key(publicDER: key.publicDER)
    #expect(read.verifies(try key.signature(of: message), of: message))
    #expect(throws: TLSError.self) { try read.signature(of: message) }
  }

  static let p384 = """
    -----BEGIN PRIVATE KEY-----
    MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBTFGtXyQAw5N44uYqk
    -----END PRIVATE KEY-----
    """

  @Test(arguments: ["", "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", p384])
  func `what is no key is refused in one line`(_ text: String) {
    let error = #expect(throws: TLSError.self) { try ES256Key(privatePEM: Array(text.utf8)) }
    #expect(error?.description.contains("\n") == false)
  }

  @Test func `a certificate is no private key, and half a DER no public key`() throws {
    let authority = try CertificateAuthority()
    #expect(throws: TLSError.self) { try ES256Key(privatePEM: authority.certificatePEM) }
    #expect(throws: TLSError.self) { try ES256Key(publicDER: Array(key.publicDER.dropLast())) }
    #expect(throws: TLSError.self) { try ES256Key(publicDER: []) }
  }

  @Test func `a signature by SHA-512 has halves of 66 bytes, and is no other's`() throws {
    let message = Array("message".utf8)
    let signature = try key.signature(of: message, by: .es512)
    #expect(signature.count == 132)
    #expect(signature[..<34].allSatisfy { $0 == 0 } && signature[66..<100].allSatisfy { $0 == 0 })
    #expect(key.verifies(signature, of: message, by: .es512))
    #expect(!key.verifies(signature, of: message))
    #expect(!key.verifies(signature, of: message + [0], by: .es512))
    #expect(!(try ES256Key.generate().verifies(signature, of: message, by: .es512)))
    #expect(!key.verifies(try key.signature(of: message), of: message, by: .es512))
    for place in [0, 65, 66, 131] {
      var broken = signature
      broken[place] ^= 1
      #expect(!key.verifies(broken, of: message, by: .es512))
    }
  }

  @Test func `hashes are SHA-256 and random bytes are random`() {
    let hash = Digest.sha256(Array("abc".utf8)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    #expect(hash.joined() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(randomBytes(count: 16) != randomBytes(count: 16))
    #expect(randomBytes(count: 0).isEmpty)
  }
}
