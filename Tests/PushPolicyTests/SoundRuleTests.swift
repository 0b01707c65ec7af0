import PushPolicy
import Testing

@Suite struct SoundRuleTests {
  @Test(arguments: ["default", "chime.caf", ".hidden", "a.b.c", "Glöckchen 🔔.caf", "~", "%2e"])
  func `S1: a bare file name is a sound`(_ name: String) throws {
    for members in [#""sound":"\#(name)""#, #""sound":{"name":"\#(name)"}"#] {
      let payload = try aps(members)
      #expect(payload.notification.sound == .init(name: name))
      #expect(payload.violations.isEmpty)
    }
  }

  @Test(arguments: [
    ("a/b.caf", "a path separator"), ("/", "a path separator"), (#"a\\b"#, "a path separator"), ("..", "\"..\""),
    ("a..b", "\"..\""), ("\\u002e.", "\"..\""), (#"a\u0000.caf"#, "a control character"),
    (#"\n"#, "a control character"), (#"\u007f"#, "a control character"), (#"\u0085"#, "a control character"),
  ])
  func `S1: a name that leads elsewhere is refused`(_ name: String, _ fault: String) throws {
    let string = try aps(#""sound":"\#(name)""#)
    #expect(string.notification.sound == nil)
    #expect(string.violations.map(\.rule) == [.s1])
    #expect(string.violations.map(\.pointer) == ["/aps/sound"])
    #expect(string.violations[0].message.contains(fault))
    #expect(string.violations[0].evidence.count == 1)

    let object = try aps(#""sound":{"name":"\#(name)"}"#)
    #expect(object.violations.map(\.pointer) == ["/aps/sound/name"])
  }

  @Test(arguments: [#""sound":"""#, #""sound":{"name":""}"#, #""badge":1"#])
  func `an empty name is no sound`(_ members: String) throws {
    #expect(try aps(members) == ParsedPayload(notification: aps(members).notification))
    #expect(try aps(members).notification.sound == nil)
  }

  @Test(arguments: ["1", "true", "null", #"["default"]"#])
  func `a sound of another type counts as absent`(_ value: String) throws {
    #expect(try aps(#""sound":\#(value)"#).notification == PushNotification())
    #expect(try aps(#""sound":\#(value)"#).violations.isEmpty)
    #expect(try aps(#""sound":"a","sound":\#(value)"#).notification.sound == .init(name: "a"))
    #expect(try aps(#""sound":{"name":\#(value)}"#).notification.sound == .init(name: "default"))
  }

  @Test func `an object has a name, a claim to be critical, and a volume`() throws {
    var sound = PushNotification.Sound(name: "alarm.caf")
    sound.isCritical = true
    sound.volume = 0.25
    #expect(try aps(#""sound":{"critical":1,"volume":0.25,"name":"alarm.caf"}"#).notification.sound == sound)
    #expect(try aps(#""sound":{}"#).notification.sound == .init(name: "default"))
    #expect(try aps(#""sound":{"critical":0,"volume":"loud"}"#).notification.sound == .init(name: "default"))
  }

  @Test(arguments: [("-1", 0.0), ("0", 0), ("1", 1), ("1.5", 1), ("1e9", 1)])
  func `S5: a volume stays between 0 and 1`(_ value: String, _ volume: Double) throws {
    #expect(try aps(#""sound":{"volume":\#(value)}"#).notification.sound?.volume == volume)
  }

  @Test(arguments: [
    #""sound":"../a","sound":"b""#, #""sound":"b","sound":"../a""#, #""sound":{"name":"../a","name":"b"}"#,
    #""sound":{"name":"b","name":"../a"}"#,
  ])
  func `S1: every sound of a payload is checked and the last valid one holds`(_ members: String) throws {
    let payload = try aps(members)
    #expect(payload.notification.sound?.name == "b")
    #expect(payload.violations.map(\.rule) == [.s1])
  }
}
