import PushTesting
import Testing

@testable import PushCore

@Suite struct WebPushEncryptionTests {
  /// The keys, the salt and the message of RFC 8291, appendix A.
  private enum Example {
    static let receiver = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgq1dXpw3UpT5VOmu/
      cf/v6ih07Aems3njxI+JWgLcM96hRANCAAQlcbK+zf3jYFUarx7Q9M02bBHOvlVf
      iby3sYalMzkXMWjs4uvgGFl70wR5uG48j47O1XfKWRh+kkaZDbaCAIsO
      -----END PRIVATE KEY-----
      """
    static let sender = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgyfWPiYE+n46HLnH0
      KqZOF1fJJU3MYrct3AELtAQ+oRyhRANCAAT+M/SrDepxkU21WCP3O1SUj0EwbZIH
      Mtu5pZpTKGSCIA5Zent7wmC6HCJ5mFgJkuk5cwAvMBKiiujwa7t45ewP
      -----END PRIVATE KEY-----
      """
    static let point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
    static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
    static let text = "When I grow up, I want to be a watermelon"
    static let body =
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl"
      + "7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
  }

  private let key: ES256Key
  private let secret: [UInt8]
  private let body: [UInt8]

  init() throws {
    key = try ES256Key(privatePEM: Array(Example.receiver.utf8))
    secret = try #require(Base64URL.decode(Example.secret.utf8))
    body = try #require(Base64URL.decode(Example.body.utf8))
  }

  private func fault(of body: [UInt8], by other: ES256Key? = nil, secret given: [UInt8]? = nil) -> WebPushFault? {
    do throws(WebPushFault) {
      _ = try WebPushEncryption.open(body, by: other ?? key, secret: given ?? secret)
      return nil
    } catch {
      return error
    }
  }

  @Test func `the example of RFC 8291 is decrypted`() throws {
    #expect(Base64URL.encode(key.publicPoint) == Example.point)
    let text = try WebPushEncryption.open(body, by: key, secret: secret)
    #expect(String(decoding: text, as: UTF8.self) == Example.text)
  }

  @Test func `the example of RFC 8291 is encrypted`() throws {
    let sender = try ES256Key(privatePEM: Array(Example.sender.utf8))
    let receiver = try ES256Key(publicPoint: key.publicPoint)
    let salt = try #require(Base64URL.decode(Example.salt.utf8))
    let sealed = try WebPushEncryption.seal(
      Array(Example.text.utf8), for: receiver, secret: secret, by: sender, salt: salt)
    #expect(Base64URL.encode(sealed) == Example.body)
  }

  @Test(arguments: [0, 1, 3_993]) func `a message of any size up to that of a record returns`(_ size: Int) throws {
    let message = [UInt8](repeating: 0, count: size)
    let sealed = try WebPushEncryption.seal(
      message, for: key, secret: secret, by: try .generate(), salt: randomBytes(count: 16))
    #expect(sealed.count == size + 103 && sealed.count <= Limits.maximumWebPushSize)
    #expect(try WebPushEncryption.open(sealed, by: key, secret: secret) == message)
  }

  @Test func `a message that is too large for a record is refused`() throws {
    let sender = try ES256Key.generate()
    let (message, salt) = ([UInt8](repeating: 0, count: 3_994), [UInt8](repeating: 0, count: 16))
    #expect(throws: WebPushFault.tooLarge) {
      _ = try WebPushEncryption.seal(message, for: key, secret: secret, by: sender, salt: salt)
    }
  }

  @Test func `a message for other keys, and a changed message, are refused`() throws {
    #expect(fault(of: body, by: try ES256Key.generate()) == .notAuthentic)
    #expect(fault(of: body, secret: [UInt8](repeating: 0, count: 16)) == .notAuthentic)
    for place in [0, 15, 86, 100, body.count - 1] {
      var changed = body
      changed[place] ^= 1
      #expect(fault(of: changed) == .notAuthentic, "byte \(place)")
    }
    // A point that is not on the curve.
    var changed = body
    changed[40] ^= 1
    #expect(fault(of: changed) == .key)
  }

  @Test func `a body of another form is refused`() {
    func changed(_ place: Int, _ value: UInt8) -> [UInt8] {
      var changed = body
      changed[place] = value
      return changed
    }
    for size in 0..<103 { #expect(fault(of: Array(body.prefix(size))) == .tooShort) }
    // The size of the key, its form, and the record size.
    #expect(fault(of: changed(20, 64)) == .key)
    #expect(fault(of: changed(21, 2)) == .key)
    #expect(fault(of: Array(body[..<16]) + [0, 0, 0, 17] + body[20...]) == .recordSize)
    #expect(fault(of: Array(body[..<16]) + [0, 0, 0, 57] + body[20...]) == .severalRecords)
    #expect(fault(of: Array(body[..<16]) + [0, 0, 0, 58] + body[20...]) == nil)
    #expect(fault(of: Array(body[..<16]) + [255, 255, 255, 255] + body[20...]) == nil)
  }

  @Test func `bytes that are no point are no key`() throws {
    let points: [[UInt8]] = [
      [], [4], [UInt8](repeating: 4, count: 65), [UInt8](repeating: 0, count: 65), key.publicPoint + [0],
    ]
    for point in points { #expect(throws: TLSError.self) { _ = try ES256Key(publicPoint: point) } }
    #expect(try ES256Key(publicPoint: key.publicPoint).publicDER == key.publicDER)
  }
}
