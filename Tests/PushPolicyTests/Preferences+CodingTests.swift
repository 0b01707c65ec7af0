import FoundationEssentials
import PushPolicy
import Testing

@Suite struct PreferencesCodingTests {
  func decode(_ text: String) throws -> Preferences {
    try JSONDecoder().decode(Preferences.self, from: Data(text.utf8))
  }

  func encode(_ preferences: Preferences) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try String(decoding: encoder.encode(preferences), as: UTF8.self)
  }

  @Test func `preferences are written as documented`() throws {
    var preferences = Preferences()
    preferences.apps["com.example.news", default: .init()].categories["BREAKING", default: .init()].alert = false
    let app =
      #"{"alert":true,"badge":true,"categories":{"BREAKING":{"alert":false}},"notifications":true,"sound":true}"#
    #expect(
      try encode(preferences)
        == #"{"alert":true,"apps":{"com.example.news":\#(app)},"badge":true,"notifications":true,"sound":true}"#
    )
  }

  @Test func `preferences survive writing and reading`() throws {
    var preferences = Preferences()
    preferences.notifications = false
    preferences.parts.sound = false
    preferences.apps["a", default: .init()].notifications = false
    preferences.apps["b", default: .init()].parts.badge = false
    preferences.apps["b", default: .init()].categories["c", default: .init()].sound = true
    preferences.apps["b", default: .init()].categories["d"] = .init()
    #expect(try decode(encode(preferences)) == preferences)
  }

  @Test(arguments: ["{}", #"{"quiet_hours":[1],"apps":{}}"#, #"{"badge":null,"apps":null}"#])
  func `N8: what is missing has its default and what is unknown is ignored`(_ text: String) throws {
    #expect(try decode(text) == Preferences())
  }

  @Test func `what is missing of an app and a category has its default`() throws {
    var preferences = Preferences()
    preferences.apps["a"] = .init()
    preferences.apps["b", default: .init()].categories["c", default: .init()].badge = true
    #expect(try decode(#"{"apps":{"a":{},"b":{"categories":{"c":{"badge":true,"x":1}}}}}"#) == preferences)
  }

  @Test(arguments: [#"{"badge":"off"}"#, #"{"apps":[]}"#, #"{"apps":{"a":{"sound":1}}}"#, "[]"])
  func `a known key of a wrong type is an error`(_ text: String) {
    #expect(throws: DecodingError.self) { try decode(text) }
  }
}
