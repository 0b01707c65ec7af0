import GatewayProtocol
import PushPolicy

/// What a person can do about a reason of the provider API.
enum RefusalAdvice {
  /// One clause, or nil where the reason says it all.
  static func text(for reason: String, payload: [UInt8]) -> String? {
    let reason = Reason(rawValue: reason)
    return switch reason {
    case .payloadTooLarge: "the payload has \(payload.count) bytes; \(reason?.advice ?? "")"
    case .payloadEmpty: payloadError(payload) ?? reason?.advice
    default: reason?.advice
    }
  }

  /// The provider API has one reason for all that is no payload; here is which.
  private static func payloadError(_ payload: [UInt8]) -> String? {
    do {
      _ = try JSONParser().payload(payload.span)
      return nil
    } catch {
      switch error {
      case .empty: return "the payload is empty"
      case .notJSON(let words): return "the payload is not JSON (\(words))"
      case .notAnObject: return "the payload is JSON, but not an object: expected {\"aps\":{…}}"
      }
    }
  }
}
