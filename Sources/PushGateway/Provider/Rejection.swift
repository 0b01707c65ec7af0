import GatewayProtocol
import PushCore
import PushPolicy

/// The reason for refusing a request; only ``ProviderAPI`` turns it into a response.
struct Rejection: Error, Equatable {
  var reason: Reason
  /// The time at which the token ceased to be valid, in milliseconds since 1970; only with `Unregistered` and
  /// `ExpiredToken`.
  var timestamp: Int64?
  /// The violated rule; only with `Forbidden`.
  var violation: Violation?
  /// The value of `aps` with a wrong type; only with `Forbidden`, from a strict app.
  var fault: SchemaError?
  /// The HTTP status, if it differs from that of the reason.
  var status: Int
  /// The seconds in the field `retry-after`; only of an injected fault, and of a push for the upstream.
  var retryAfter: Int?
  /// True if the push is marketing from which the recipient has unsubscribed; only with `Forbidden`.
  var isUnsubscribed = false
  /// True if the key or the device token is unknown, so that the push may be forwarded to an upstream.
  var isForeign = false
  /// The id of the push in the log, so that the response contains the same one; only with `Forbidden`, and of a push for
  /// the upstream.
  var id: APNSID?

  init(
    _ reason: Reason, timestamp: Int64? = nil, violation: Violation? = nil, fault: SchemaError? = nil,
    id: APNSID? = nil, status: Int? = nil, retryAfter: Int? = nil
  ) {
    self.reason = reason
    self.status = status ?? reason.status
    self.timestamp = timestamp
    self.retryAfter = retryAfter
    self.violation = violation
    self.fault = fault
    self.id = id
  }

  /// Creates the refusal of a push whose key or device token is unknown.
  static func foreign(_ reason: Reason) -> Rejection {
    var rejection = Rejection(reason)
    rejection.isForeign = true
    return rejection
  }

  /// The body: compact JSON (reference §3.2), at most ``Limits/maximumErrorBodySize`` bytes.
  var body: [UInt8] {
    var evidence = violation?.evidence ?? fault.map { [$0.evidence] } ?? []
    var bytes = body(evidence: evidence)
    // One client library reads no more than that many bytes; the log has the complete evidence.
    while bytes.count > Limits.maximumErrorBodySize, !evidence.isEmpty {
      let last = evidence.removeLast()
      if last.count > 16 { evidence.append(String(last.prefix(last.count / 2)) + "…") }
      bytes = body(evidence: evidence)
    }
    return bytes
  }

  /// The violation of a numbered rule, or of the schema of `aps`.
  private var breach: (rule: String, pointer: String, message: String)? {
    if let violation { return (violation.rule.rawValue, violation.pointer, violation.message) }
    return fault.map { (Rejection.schemaRule, $0.pointer, $0.message) }
  }

  /// The violation with all of its evidence, for the delivery log.
  var finding: DeliveryDetail.Finding? {
    violation.map { .init($0, isReportOnly: false) } ?? fault.map { .init($0) }
  }

  /// The name of the schema among the rules, in responses and in the log.
  static let schemaRule = PolicyMeter.schemaRule

  private func body(evidence: [String]) -> [UInt8] {
    var bytes = Array(#"{"reason":""#.utf8)
    bytes += reason.rawValue.utf8
    bytes += "\"".utf8
    if let timestamp { bytes += ",\"timestamp\":\(timestamp)".utf8 }
    if let breach {
      bytes += #","policy":{"rule":"#.utf8
      appendJSONString(breach.rule, to: &bytes)
      bytes += #","at":"#.utf8
      appendJSONString(breach.pointer, to: &bytes)
      bytes += #","message":"#.utf8
      appendJSONString(breach.message, to: &bytes)
      bytes += #","evidence":"#.utf8
      appendJSONStrings(evidence, to: &bytes)
      bytes += "}".utf8
    }
    bytes += "}".utf8
    return bytes
  }
}

extension DeliveryDetail.Finding {
  /// Creates the finding for a value of `aps` with a wrong type.
  init(_ fault: SchemaError) {
    self.init(rule: Rejection.schemaRule, pointer: fault.pointer, message: fault.message)
  }
}
