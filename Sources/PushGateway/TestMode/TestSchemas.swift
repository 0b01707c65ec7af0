/// The schemas of the test API's requests and answers, in JSON Schema 2020-12.
enum TestSchemas {
  /// All schemas, by their names.
  static var all: [String: JSONValue] {
    [
      "Problem": object(
        ["status": integer, "title": text, "detail": text, "field": text], required: ["status", "title", "detail"]),
      "Status": object(
        [
          "mode": text, "strict": flag, "version": text, "now": time, "offset": integer, "recorded": integer,
          "dropped": integer, "keep": integer, "devices": integer,
        ]),
      "DeviceRequest": object(
        [
          "topic": text, "token": token, "name": text, "preferences": ["type": "object"],
          "channels": ["type": "array", "items": channel],
        ], required: []),
      "Device": object(["token": token, "topic": text, "device": text, "user": text]),
      "AnswerRequest": object(["action": text, "id": text], required: ["action"]),
      "Answer": object(["id": text, "action": text]),
      "TokenRequest": object(
        ["state": words(TokenState.self), "count": integer, "for": duration, "retry-after": retryAfter],
        required: ["state"]),
      "Token": object(["token": token, "state": words(TokenState.self)]),
      "FaultsRequest": object([
        "faults": ["type": "array", "maxItems": .integer(TestFaults.maximumCount), "items": OpenAPI.reference("Fault")]
      ]),
      "Fault": fault,
      "Faults": object(["token": token, "faults": list(of: ["name": text, "does": text])]),
      "TLS": object(["certificate": words(TestTLS.Certificate.self)]),
      "ClockRequest": object(["advance": duration, "reset": flag], required: []),
      "Clock": object(["now": time, "offset": integer]),
      "Removed": object(["removed": integer]),
      "Expectation": expectation,
      "Push": push,
      "Pushes": object(["pushes": list(of: "Push"), "last": integer, "dropped": integer]),
      "Failure": failure,
      "Report": report,
      "Tests": tests,
    ]
  }

  private static let text: JSONValue = ["type": "string"]
  private static let integer: JSONValue = ["type": "integer"]
  private static let flag: JSONValue = ["type": "boolean"]
  private static let texts: JSONValue = ["type": "array", "items": ["type": "string"]]
  private static let time: JSONValue = ["type": "string", "format": "date-time"]
  private static let token: JSONValue = ["type": "string", "pattern": "^[0-9A-Fa-f]{64}$"]
  private static let channel: JSONValue = ["type": "string", "pattern": "^[0-9A-Za-z+/]{22}==$"]
  private static let retryAfter: JSONValue = ["type": "integer", "minimum": 1, "maximum": 86_400]
  private static let duration: JSONValue = ["type": "string", "pattern": "^[0-9.]+(ms|s|m|h|d)$"]

  private static func object(_ members: [String: JSONValue], required: [String]? = nil) -> JSONValue {
    let required = (required ?? members.keys.sorted()).map { JSONValue.string($0) }
    return ["type": "object", "properties": .object(members), "required": .array(required)]
  }

  private static func list(of name: String) -> JSONValue { ["type": "array", "items": OpenAPI.reference(name)] }

  private static func list(of members: [String: JSONValue], required: [String]? = nil) -> JSONValue {
    ["type": "array", "items": object(members, required: required)]
  }

  /// The schema of an enumeration of words.
  static func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> JSONValue
  where Word.RawValue == String {
    ["type": "string", "enum": .array(Word.allCases.map { .string($0.rawValue) })]
  }

  /// A fault of a scenario file. A test compares the members with its keys.
  private static var fault: JSONValue {
    object(
      [
        "name": text, "reason": text, "status": ["type": "integer", "minimum": 200, "maximum": 599],
        "retry-after": retryAfter, "delay": duration, "reset": text, "goaway": text, "drop": flag, "half-open": flag,
        "stall": flag, "streams": integer, "throttle": integer, "unregister": flag, "count": integer,
        "rate": ["type": "number", "minimum": 0, "maximum": 100], "seed": integer, "for": duration,
      ], required: [])
  }

  private static var expectation: JSONValue {
    object(
      [
        "token": text, "match": ["type": "object", "additionalProperties": true],
        "count": ["type": "integer", "minimum": 0, "maximum": .integer(PushExpectation.maximumCount), "default": 1],
        "state": words(PushState.self), "within": duration, "since": integer, "exactly": flag, "idle": duration,
      ], required: [])
  }

  private static var push: JSONValue {
    let sender = object(
      [
        "connection": integer, "address": text, "key_id": text, "team_id": text, "token_age": integer,
        "certificate": text,
      ], required: ["connection"])
    let members: [String: JSONValue] = [
      "number": integer, "received": time, "answered": time, "id": text, "method": text, "path": text, "token": text,
      "headers": ["type": "object", "additionalProperties": text], "topic": text, "suffix": text, "push_type": text,
      "priority": integer, "expiration": integer, "collapse_id": text, "size": integer, "payload": [:],
      "payload_text": text, "sender": sender, "outcome": words(PushOutcome.self), "status": integer, "reason": text,
      "retry_after": integer,
      "states": texts, "presented": texts,
      "suppressed": list(of: ["part": text, "rule": text, "setting": text]),
      "findings": list(of: ["rule": text, "at": text, "message": text, "refused": flag]),
      "lint": list(of: ["rule": text, "at": text, "message": text, "severity": text]),
      "events": list(of: ["at": time, "event": text, "detail": text], required: ["at", "event"]),
    ]
    return object(
      members,
      required: [
        "number", "received", "id", "method", "path", "headers", "size", "sender", "outcome", "states", "presented",
        "suppressed", "findings", "lint", "events",
      ])
  }

  private static var failure: JSONValue {
    return object([
      "status": integer, "title": text, "detail": text, "expected": integer, "matched": integer, "recorded": integer,
      "last": integer, "dropped": integer, "pushes": list(of: "Push"),
      "nearest": nearest(OpenAPI.reference("Push")),
    ])
  }

  /// The nearest pushes of an expectation that failed, each in the form of a schema.
  private static func nearest(_ push: JSONValue) -> JSONValue {
    let difference = list(of: ["field": text, "expected": [:], "found": [:]], required: ["field", "expected"])
    return list(of: ["push": push, "differences": difference, "cause": text], required: ["push", "differences"])
  }

  private static var tests: JSONValue {
    let results = list(of: [
      "number": integer, "at": time, "fulfilled": flag, "detail": text, "nearest": nearest(integer),
    ])
    let test: [String: JSONValue] = [
      "token": text, "device": text, "pushes": integer, "last": time, "failed": integer, "expectations": results,
    ]
    return object(["tests": list(of: test, required: ["pushes", "last", "failed", "expectations"])])
  }

  private static var report: JSONValue {
    let lines = list(
      of: [
        "number": integer, "id": text, "at": time, "token": text, "reason": text, "status": integer,
        "verdict": words(PushReport.Verdict.self), "expected": text, "next": integer, "after": ["type": "number"],
        "text": text,
      ], required: ["number", "id", "at", "verdict", "expected", "text"])
    let summary: JSONValue = ["type": "object", "additionalProperties": integer]
    return object(["lines": lines, "summary": summary, "dropped": integer])
  }
}
