import FoundationEssentials
import PushPolicy
import Testing

@Suite struct PreferencesFormTests {
  func error(_ text: String, _ form: Preference.Scope = .everything) throws -> String? {
    try JSONParser().parse(Array(text.utf8).span) { form.error(in: $0) }
  }

  @Test func `what the gateway writes has the right form`() throws {
    var preferences = Preferences()
    for (assignment, app, category) in [
      ("quiet=22:00-07:00 sat,sun Europe/Berlin", nil, nil), ("focus.work=a,b", nil, nil), ("summary=9:00", nil, nil),
      ("budget=0", "a", nil), ("delivery=summary", "a", nil), ("advertising=allow", "a", nil),
      ("time-sensitive=on", "a", nil), ("critical=on", "a", nil), ("provisional=on", "b", nil),
      ("alert=off", "a", "c"),
    ] as [(String, String?, String?)] {
      try preferences.set(assignment, app: app, category: category)
    }
    let json = try JSONEncoder().encode(preferences)
    #expect(try error(String(decoding: json, as: UTF8.self)) == nil)
    #expect(try JSONDecoder().decode(Preferences.self, from: json) == preferences)
  }

  @Test(
    arguments: [
      ("{}", .everything), ("{}", .app), ("{}", .category), (#"{"badge":null}"#, .category),
      (#"{"alert_budget":null}"#, .app), (#"{"focus":{}}"#, .everything),
    ] as [(String, Preference.Scope)])
  func `a choice may be left out`(_ text: String, _ form: Preference.Scope) throws {
    #expect(try error(text, form) == nil)
  }

  @Test(
    arguments: [
      ("[]", .everything, "the body must be an object, not […]"),
      (#"{"badge":"off"}"#, .everything, #"/badge must be true or false, not "off""#),
      (#"{"badge":null}"#, .app, "/badge must be true or false, not null"),
      (#"{"badge":1}"#, .category, "/badge must be true, false or null, not 1"),
      (#"{"colour":1}"#, .category, "/colour is unknown: expected one of badge, sound, alert"),
      (#"{"apps":{"a/b":{"x":1}}}"#, .everything, "/apps/a~1b/x is unknown: expected one of notifications, badge, "),
      (#"{"apps":{"a":{"categories":{"c":{"alert":2}}}}}"#, .everything, "/apps/a/categories/c/alert must be true"),
      (#"{"quiet":"22:00-07:00"}"#, .everything, #"/quiet must be an array, not "22:00-07:00""#),
      (#"{"quiet":["22:00-07:00","x"]}"#, .everything, #"/quiet/1 must be a window such as "22:00-07:00 mon-fri"#),
      (#"{"summary":"never"}"#, .everything, #"/summary must be times such as"#),
      (#"{"focus":["a"]}"#, .everything, "/focus must be an object, not […]"),
      (#"{"focus":{"work":"a"}}"#, .everything, #"/focus/work must be an array, not "a""#),
      (#"{"focus":{"wo/rk":[]}}"#, .everything, "/focus/wo~1rk is not a valid name of a Focus"),
      (#"{"focus":{"work":[""]}}"#, .everything, "/focus/work/0 must be a topic"),
      (#"{"alert_budget":-1}"#, .app, "/alert_budget must be a whole number from 0 to 10000, or null, not -1"),
      (#"{"alert_budget":1.5}"#, .app, "/alert_budget must be a whole number from 0 to 10000, or null, not 1.5"),
      (#"{"delivery":"later"}"#, .app, #"/delivery must be "now" or "summary", not "later""#),
      (#"{"advertising":"allow"}"#, .app, #"/advertising must be true or false, not "allow""#),
    ] as [(String, Preference.Scope, String)])
  func `a form that is wrong says where and what was expected`(
    _ text: String, _ form: Preference.Scope, _ beginning: String
  ) throws {
    let error = try #require(try error(text, form))
    #expect(error.hasPrefix(beginning), "\(error)")
  }

  @Test func `the number of windows and Focuses has a bound`() throws {
    func windows(_ count: Int) -> String {
      "[" + Array(repeating: #""1:00-2:00""#, count: count).joined(separator: ",") + "]"
    }
    #expect(try error(#"{"quiet":\#(windows(32))}"#) == nil)
    #expect(try error(#"{"quiet":\#(windows(33))}"#) == "/quiet has more than 32 elements")
  }

  @Test func `the names of apps, categories and topics have at most 255 bytes`() throws {
    for size in [255, 256] {
      let name = String(repeating: "a", count: size)
      let isTaken = size == 255
      #expect(
        try error(#"{"apps":{"\#(name)":{}}}"#)
          == (isTaken ? nil : "/apps has a name of 256 bytes: expected at most 255"))
      #expect(
        try error(#"{"categories":{"\#(name)":{}}}"#, .app)
          == (isTaken ? nil : "/categories has a name of 256 bytes: expected at most 255"))
      #expect((try error(#"{"focus":{"work":["\#(name)"]}}"#) == nil) == isTaken)
    }
    #expect(
      try error(#"{"focus":{"work":["25:00-99:00"]}}"#)
        == #"/focus/work/0 must be a topic such as "com.example.news", not "25:00-99:00""#)
  }
}
