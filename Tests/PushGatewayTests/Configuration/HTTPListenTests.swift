import Testing

@testable import PushGateway

@Suite struct HTTPListenTests {
  @Test(arguments: [
    ("auto", HTTPListen.automatic), ("none", .none), ("10.0.0.5:80", .addresses(["10.0.0.5:80"])),
    ("127.0.0.1:0, [::1]:2198", .addresses(["127.0.0.1:0", "[::1]:2198"])),
  ])
  func `a value is read as it is written`(_ text: String, _ value: HTTPListen) throws {
    #expect(try SettingType.httpListen.read(text) == value)
  }

  @Test func `no address is none, and what is no address is refused`() {
    #expect(throws: ConfigurationError.self) { try SettingType.httpListen.read("everywhere") }
    #expect(throws: ConfigurationError.self) { try SettingType.httpListen.read("127.0.0.1:0,none") }
    #expect((try? SettingType.httpListen.read("")) == .some(nil))
  }
}
