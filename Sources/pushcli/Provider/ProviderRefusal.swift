import GatewayClient
import GatewayProtocol
import PushCore
import PushPolicy

extension ProviderRefusal {
  /// Returns a refusal as one clause: its status, its reason, and the remedy.
  static func words(_ status: Int, _ refusal: ProviderRefusal?, _ advice: String?) -> String {
    let why = refusal?.policy.map { "rule \($0.rule) at \($0.at): \($0.message)" } ?? advice
    return "\(status) \(refusal?.reason ?? "")\(why.map { ": " + $0 } ?? "")"
  }

  /// Returns the refusal of a push that was made from options as one clause.
  static func words(of answer: Client.Answer) -> String {
    let refusal = ProviderRefusal(answer)
    return words(answer.status, refusal, refusal.flatMap { Reason(rawValue: $0.reason)?.advice })
  }

  /// Returns the exit code for a refusal.
  static func exit(_ status: Int, _ reason: String?) -> Exit {
    switch (status, reason) {
    case (403, "Forbidden"): .refused
    case (403, _): .notAuthorized
    case (400..<429, _): .refused
    default: .unreachable
    }
  }

  /// Returns the advice to the user for a reason, in one clause; nil if the reason needs none.
  static func advice(for reason: String, payload: [UInt8]) -> String? {
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
