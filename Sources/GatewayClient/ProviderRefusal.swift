import PushCore

/// The body of the provider API's answer to a refused push.
package struct ProviderRefusal: Decodable {
  package struct Policy: Decodable {
    package var rule: String
    package var at: String
    package var message: String
  }
  package var reason: String
  package var policy: Policy?

  /// Decodes the body of an answer; nil if it has another form.
  package init?(_ answer: Client.Answer) {
    guard let refusal = try? decodeJSON(ProviderRefusal.self, from: answer.body) else { return nil }
    self = refusal
  }
}
