import GatewayProtocol
import PushPolicy

/// Advice to the user for refusal reasons of the provider API.
enum RefusalAdvice {
  /// Returns one clause, or nil if the reason needs no advice.
  static func text(for reason: String, payload: [UInt8]) -> String? {
    let reason = Reason(rawValue: reason)
    return switch reason {
    case .payloadTooLarge: "the payload has \(payload.count) bytes; \(reason?.advice ?? "")"
    case .payloadEmpty: payloadError(payload) ?? reason?.advice
    default: reason?.advice
    }
  }

  /// Returns the exact error of an invalid payload, for which the provider API has a single reason.
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
