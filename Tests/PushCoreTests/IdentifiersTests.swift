import PushTesting
import Testing

@testable import PushCore

@Suite struct IdentifiersTests {
  static let samples = [
    "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "0f8fad5b-d9cb-469f-A165-70867728950E",
    "F4121B12-E0BF-3266-F079-D9253E98BF49", "aBcDeF01-2345-6789-AbCd-eF0123456789",
  ]

  @Test(arguments: samples)
  func `an apns-id is echoed byte for byte`(_ text: String) throws {
    let id = try #require(APNSID(text))
    #expect(id.description == text)
    #expect(try #require(APNSID(stored: id.stored)).description == text)
    #expect(id.stored.count == 20)
  }

  @Test(arguments: samples)
  func `ids that differ in case only are equal`(_ text: String) throws {
    let ids = try [text, text.lowercased(), text.uppercased()].map { try #require(APNSID($0)) }
    #expect(Set(ids).count == 1)
    #expect(ids[1].stored.prefix(16) == ids[2].stored.prefix(16))
  }

  @Test func `ids that differ in one digit are different`() throws {
    let text = Array("0f8fad5b-d9cb-469f-a165-70867728950e".utf8)
    let id = try #require(APNSID(String(decoding: text, as: UTF8.self)))
    for place in text.indices where text[place] != UInt8(ascii: "-") {
      var other = text
      other[place] = text[place] == UInt8(ascii: "1") ? UInt8(ascii: "2") : UInt8(ascii: "1")
      #expect(APNSID(String(decoding: other, as: UTF8.self)) != id)
    }
  }

  @Test(arguments: [
    "", "0", "0f8fad5b-d9cb-469f-a165-70867728950", "0f8fad5b-d9cb-469f-a165-70867728950e0",
    "0f8fad5bd9cb469fa16570867728950e", "{0f8fad5b-d9cb-469f-a165-70867728950e}",
    "0f8fad5b-d9cb-469f-a165-70867728950g", "0f8fad5b-d9cb-469f-a16570-867728950e",
    "0f8fad5b_d9cb_469f_a165_70867728950e", "0f8fad5-bd9cb-469f-a165-70867728950e",
    "0f8fad5b-d9cb-469f-a165-7086772895é", "-0f8fad5-d9cb-469f-a165-70867728950e",
    "0f8fad5b-d9cb-469f-a165-70867728950 ",
  ])
  func `anything but the canonical form is no id`(_ text: String) {
    #expect(APNSID(text) == nil)
  }

  @Test func `an id of ours is a version 4 UUID in upper case`() {
    var random = SplitMix64(state: 1)
    for _ in 0..<100 {
      let text = APNSID(using: &random).description
      #expect(text == text.uppercased())
      let digits = Array(text)
      #expect(digits[14] == "4")
      #expect("89AB".contains(digits[19]))
    }
  }

  @Test(arguments: [0, 16, 19, 21])
  func `a stored id has 20 bytes`(_ size: Int) {
    #expect(APNSID(stored: [UInt8](repeating: 0, count: size)) == nil)
  }

  @Test func `a device token goes through hex and bytes unchanged`() throws {
    for _ in 0..<20 {
      let token = DeviceToken.random()
      #expect(token.hex.count == 64)
      #expect(token.hex == token.hex.lowercased())
      #expect(DeviceToken(hex: token.hex) == token)
      #expect(DeviceToken(hex: token.hex.uppercased()) == token)
      #expect(DeviceToken(bytes: token.bytes) == token)
    }
    let token = try #require(DeviceToken(bytes: Array(0..<32)))
    #expect(token.hex == "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
    #expect(token.bytes == Array(0..<32))
  }

  @Test func `two random tokens differ`() {
    #expect(Set((0..<100).map { _ in DeviceToken.random() }).count == 100)
  }

  @Test(arguments: [
    "", "ab", String(repeating: "a", count: 63), String(repeating: "a", count: 65),
    String(repeating: "a", count: 63) + "g", "x" + String(repeating: "a", count: 63),
    String(repeating: "a", count: 31) + "-" + String(repeating: "a", count: 32),
  ])
  func `anything but 64 hex digits is no token`(_ text: String) {
    #expect(DeviceToken(hex: text) == nil)
  }

  @Test(arguments: [0, 31, 33])
  func `anything but 32 bytes is no token`(_ size: Int) {
    #expect(DeviceToken(bytes: [UInt8](repeating: 0, count: size)) == nil)
  }
}
