import Testing

@testable import PushPolicy

@Suite struct APSSchemaTests {
  func faults(_ json: String) throws -> [SchemaError] { try JSONParser().payload(Array(json.utf8).span).faults }

  /// JSON values of every kind.
  static let kinds: KeyValuePairs = [
    "null": "null", "bool": "true", "zero": "0", "one": "1", "two": "2", "fraction": "0.5", "string": #""x""#,
    "strings": #"["a","b"]"#, "mixed": #"["a",1]"#, "object": #"{"a":1}"#,
  ]

  /// Every key of reference §6.2 to §6.4, with the valid kinds of its value.
  static let keys: [(pointer: String, fits: Set<String>)] = {
    let (string, object): (Set<String>, Set<String>) = (["string"], ["object"])
    let number: Set<String> = ["zero", "one", "two", "fraction"]
    let (flag, text): (Set<String>, Set<String>) = (["zero", "one"], ["string", "object"])
    let (nullable, arguments): (Set<String>, Set<String>) = (["string", "null"], ["strings", "null"])
    return [
      ("alert", text), ("badge", number), ("sound", text), ("thread-id", string), ("category", string),
      ("content-available", flag), ("mutable-content", flag), ("target-content-id", string),
      ("interruption-level", []), ("relevance-score", number), ("filter-criteria", string), ("stale-date", number),
      ("content-state", object), ("timestamp", number), ("event", []), ("dismissal-date", number),
      ("attributes-type", string), ("attributes", object), ("input-push-channel", string), ("input-push-token", flag),
      ("content-changed", ["bool"]), ("url-args", ["strings"]), ("alert/title", text), ("alert/subtitle", text),
      ("alert/body", text), ("alert/title-loc-key", nullable), ("alert/title-loc-args", arguments),
      ("alert/subtitle-loc-key", nullable), ("alert/subtitle-loc-args", arguments), ("alert/loc-key", nullable),
      ("alert/loc-args", arguments), ("alert/launch-image", string), ("alert/action-loc-key", nullable),
      ("alert/action", string), ("alert/summary-arg", string), ("alert/summary-arg-count", number),
      ("alert/sound", text), ("sound/critical", flag), ("sound/name", string),
      ("sound/volume", ["zero", "one", "fraction"]), ("custom", Set(kinds.map(\.key))),
      ("alert/custom", Set(kinds.map(\.key))), ("a-key-that-is-longer-than-any-that-is-known", Set(kinds.map(\.key))),
    ]
  }()

  @Test(arguments: keys) func `each key takes its types and no others`(_ key: (pointer: String, fits: Set<String>))
    throws
  {
    for (kind, value) in APSSchemaTests.kinds {
      let path = key.pointer.split(separator: "/")
      let json =
        #"{"aps":{"#
        + path.dropLast().map { #""\#($0)":{"# }.joined() + #""\#(path[path.count - 1])":\#(value)"#
        + String(repeating: "}", count: path.count + 1)
      let found = try faults(json)
      #expect(found.map(\.pointer) == (key.fits.contains(kind) ? [] : ["/aps/\(key.pointer)"]), "\(json)")
    }
  }

  @Test(
    arguments: [
      (#""interruption-level":"passive""#, true), (#""interruption-level":"active""#, true),
      (#""interruption-level":"time-sensitive""#, true), (#""interruption-level":"critical""#, true),
      (#""interruption-level":"urgent""#, false), (#""event":"start""#, true), (#""event":"update""#, true),
      (#""event":"end""#, true), (#""event":"stop""#, false), (#""content-changed":false"#, false),
      (#""sound":{"volume":1.01}"#, false), (#""sound":{"volume":-0.1}"#, false), (#""mutable-content":1.0"#, false),
      (#""alert":{"title":{"loc-key":"k","loc-args":["a"]}}"#, true), (#""url-args":[]"#, true),
    ]) func `some strings and numbers are not any`(_ member: String, _ fits: Bool) throws
  {
    #expect(try faults(#"{"aps":{\#(member)}}"#).isEmpty == fits)
  }

  @Test func `a fault says where, what is due and what is there`() throws {
    #expect(
      try faults(#"{"aps":{"alert":{"title":"ok","loc-args":"x"},"category":7,"sound":{"critical":true}}}"#) == [
        SchemaError(
          pointer: "/aps/alert/loc-args", message: #"loc-args is an array of strings, or null; this is the string "x""#,
          evidence: #""x""#),
        SchemaError(pointer: "/aps/category", message: "category is a string; this is the number 7", evidence: "7"),
        SchemaError(
          pointer: "/aps/sound/critical", message: "critical is 1, or 0; this is the boolean true", evidence: "true"),
      ])
  }

  @Test(arguments: [("null", "null"), ("[]", "an array"), ("1", "the number 1"), (#""x""#, #"the string "x""#)])
  func `an aps that is no object is a fault`(_ value: String, _ words: String) throws {
    #expect(try faults(#"{"aps":\#(value)}"#).map(\.message) == ["aps is an object; this is \(words)"])
  }

  @Test(arguments: ["{}", #"{"mdm":"x"}"#, #"{"aps":{}}"#, #"{"alert":7,"aps":{"alert":"x"},"badge":[]}"#])
  func `what is beside aps has no schema`(_ json: String) throws {
    #expect(try faults(json).isEmpty)
  }

  @Test func `a key that comes twice is looked at twice`() throws {
    #expect(try faults(#"{"aps":{"category":1,"category":"x","category":2}}"#).count == 2)
  }

  @Test func `a Live Activity that is all right has no fault`() throws {
    let json = #"""
      {"aps":{"timestamp":1685952000,"event":"start","content-state":{"a":1},"attributes-type":"A","attributes":{"b":2},
      "stale-date":1685959200,"dismissal-date":1685959200,"relevance-score":100,"input-push-token":1,
      "alert":{"title":{"loc-key":"k","loc-args":["x"]},"body":"b","sound":"chime.aiff"}}}
      """#
    #expect(try faults(json).isEmpty)
  }
}
