import GatewayClient
import GatewayProtocol
import PushCore

/// The body of the provider API's answer to a refused push.
struct ProviderRefusal: Decodable {
  struct Policy: Decodable {
    var rule: String
    var at: String
    var message: String
  }
  var reason: String
  var policy: Policy?

  /// Decodes the body of an answer; nil if it has another form.
  init?(_ answer: Client.Answer) {
    guard let refusal = try? decodeJSON(ProviderRefusal.self, from: answer.body) else { return nil }
    self = refusal
  }

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
}
