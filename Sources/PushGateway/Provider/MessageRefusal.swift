import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy

/// The refusal of a message, in any form: a status, a word for programs and a sentence for people.
struct MessageRefusal: Error, Equatable, Encodable {
  var status: Int
  var reason: String
  var message: String
  /// The violated rule of the policy for senders; nil for another cause.
  var rule: String?
  /// The seconds after which the sender may send again.
  var retryAfter: Int?

  private enum CodingKeys: String, CodingKey { case reason, message, rule }

  init(_ status: Int, _ reason: String, _ message: String, retryAfter: Int? = nil) {
    (self.status, self.reason, self.message, self.retryAfter) = (status, reason, message, retryAfter)
  }

  /// The refusal of the message's push by the checks of a provider's push.
  init(_ rejection: Rejection) {
    self.init(
      rejection.status, rejection.reason.rawValue,
      rejection.finding?.message ?? rejection.reason.advice ?? "the push is refused")
    rule = rejection.finding?.rule
    if rejection.reason == .tooManyRequests { retryAfter = 1 }
  }

  static func badMessage(_ message: String) -> MessageRefusal { MessageRefusal(400, "BadMessage", message) }

  static let duplicateFields = MessageRefusal(
    400, "DuplicateHeaders", "a header field of this request occurs twice: send each field once")

  /// The answer to an unknown name and to a wrong token, which does not reveal the names of senders.
  static let unauthorized = MessageRefusal(
    401, "Unauthorized",
    "missing or wrong token of a sender: send `authorization: bearer TOKEN` to the path of the same sender; "
      + "`pushcli senders add` and `senders rotate` print a token")

  var response: Response {
    var response = Response(status: status, body: controlJSON(self))
    if let retryAfter { response.fields = [(name: "retry-after", value: String(retryAfter))] }
    return response
  }
}
