import PushPolicy
import Testing

@Suite struct VibrationRuleTests {
  @Test(arguments: ["vibrate", "vibration", "vibration-pattern", "haptic", "VIBRATE", "Vibration-Pattern", "hApTiC"])
  func `S3: a key that asks for vibration is refused wherever it stands`(_ key: String) throws {
    for (members, pointer) in [
      (#""\#(key)":1"#, "/aps/\(key)"),
      (#""sound":{"name":"a","\#(key)":[1,2]}"#, "/aps/sound/\(key)"),
      (#""alert":{"body":"a","\#(key)":null}"#, "/aps/alert/\(key)"),
    ] {
      let message = "vibration is the user's setting only: omit \"\(key)\""
      #expect(
        try aps(members).violations == [
          Violation(rule: .s3, pointer: pointer, message: message, evidence: ["\"\(key)\""])
        ]
      )
    }
  }

  @Test func `S3: an escaped key and every one of several are seen`() throws {
    let payload = try aps(#""vibr\u0061te":1,"haptic":2,"vibrate":3"#)
    #expect(payload.violations.map(\.pointer) == ["/aps/vibrate", "/aps/haptic", "/aps/vibrate"])
  }

  @Test(arguments: ["vibrates", "vibrat", "haptics", "", "vibration_pattern", "vibration\\rpattern"])
  func `S3: another key is none`(_ key: String) throws {
    #expect(try aps(#""\#(key)":1,"sound":{"\#(key)":1},"alert":{"\#(key)":1}"#).violations.isEmpty)
  }

  @Test func `S3: a sender's own key outside aps is its own`() throws {
    #expect(try payload(#"{"vibrate":1,"aps":{"alert":"vibrate"}}"#).violations.isEmpty)
  }
}
