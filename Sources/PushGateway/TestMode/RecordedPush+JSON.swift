import PushCore
import PushPolicy
import PushStorage

extension RecordedPush {
  /// The push as the test API and recordings show it.
  var json: JSONValue {
    var members: [String: JSONValue] = [
      "number": .integer(number),
      "received": .timestamp(received),
      "id": .string(id.description),
      "method": .string(method),
      "path": .string(path),
      "headers": .object(headers.mapValues { .string($0) }),
      "size": .integer(size),
      "sender": sender.json,
      "outcome": .string(outcome.rawValue),
      "states": .array(states.map { .string($0.rawValue) }),
      "presented": .array(presented.map { .string($0) }),
      "suppressed": .array(suppressed.map(\.json)),
      "findings": .array(findings.map(\.json)),
      "lint": .array(lint.map(\.json)),
      "events": .array(events.map(\.json)),
    ]
    members["answered"] = answered.map { .timestamp($0) }
    members["token"] = token.map { .string($0) }
    members["topic"] = topic.map { .string($0) }
    members["suffix"] = suffix.map { .string($0) }
    members["push_type"] = pushType.map { .string($0) }
    members["priority"] = priority.map { .integer($0) }
    members["expiration"] = expiration.map { .integer($0) }
    members["collapse_id"] = collapseID.map { .string($0) }
    members["payload"] = payload
    members["payload_text"] = payloadText.map { .string($0) }
    members["status"] = status.map { .integer($0) }
    members["reason"] = reason.map { .string($0) }
    members["retry_after"] = retryAfter.map { .integer($0) }
    return .object(members)
  }
}

extension JSONValue {
  /// A time in milliseconds since 1970, as RFC 3339 in UTC.
  static func timestamp(_ milliseconds: Int64) -> JSONValue { .string(Timestamp.text(milliseconds)) }
}

extension RecordedPush.Sender {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = ["connection": .integer(connection)]
    members["address"] = address.map { .string($0) }
    members["key_id"] = keyID.map { .string($0) }
    members["team_id"] = team.map { .string($0) }
    members["token_age"] = tokenAge.map { .integer($0) }
    members["certificate"] = certificate.map { .string($0) }
    return .object(members)
  }
}

extension RecordedPush.Finding {
  fileprivate var json: JSONValue {
    ["rule": .string(rule), "at": .string(pointer), "message": .string(message), "refused": .bool(isRefused)]
  }
}

extension RecordedPush.Event {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = ["at": .timestamp(at), "event": .string(event.rawValue)]
    if !detail.isEmpty { members["detail"] = .string(detail) }
    return .object(members)
  }
}

extension Decision.Removal {
  fileprivate var json: JSONValue {
    ["part": .string(part.rawValue), "rule": .string(rule.rawValue), "setting": .string(setting)]
  }
}

extension LintFinding {
  fileprivate var json: JSONValue {
    [
      "rule": .string(rule.rawValue), "at": .string(pointer), "message": .string(message),
      "severity": .string(severity.rawValue),
    ]
  }
}
