import HTTP2Transport
import NIOCore
import PushCore

/// The answer of the upstream to a push.
struct UpstreamAnswer {
  var status: Int
  /// The fields for the sender, in the order of ``names``.
  var fields: [(name: HeaderName, value: [UInt8])]
  var body: [UInt8]

  /// The fields that the sender gets.
  static let names: [HeaderName] = [.apnsID, .apnsUniqueID, .retryAfter, .apnsDeliverAt, .apnsMarketing]

  /// Reads an answer; nil for a status outside of 200 to 599, and for a body above ``Limits/maximumForwardedAnswer``.
  init?(_ message: Message) {
    guard let status = message.text(.status).flatMap(Int.init), (200...599).contains(status),
      message.bodySize <= Limits.maximumForwardedAnswer
    else { return nil }
    self.status = status
    body = message.body
    fields = UpstreamAnswer.names.compactMap { name in message.bytes(name).map { (name: name, value: $0) } }
  }

  /// The `apns-id` of the answer; nil if it is missing or invalid.
  var id: APNSID? {
    guard let value = fields.first(where: { $0.name == .apnsID })?.value else { return nil }
    return APNSID(value.span)
  }
}

/// The end of a push that was given to a ``Forwarder``.
enum ForwardOutcome {
  case answered(UpstreamAnswer)
  /// The upstream gave no answer; `wasSent` is true if it may have processed the push.
  case failed(retryAfter: Int, wasSent: Bool)
  /// The sender has ended its stream, which takes no response.
  case abandoned(wasSent: Bool)
}

/// A push between its sender and the upstream. It is the consumer of the sender's stream: the end of the stream cancels
/// the push.
///
/// Belongs to one event loop.
final class ForwardedPush: StreamConsumer {
  let environment: Environment
  /// The value of `authorization`, which selects the connection.
  let authorization: [UInt8]
  /// True if this gateway or the upstream has verified the sender's token.
  let isVerified: Bool
  /// The request; empty once it is over.
  private(set) var head: HeaderFields
  private(set) var body: [UInt8]
  /// The size in bytes for ``Limits/maximumForwardSize``: the texts, and a constant for the objects.
  let size: Int
  /// The time at which it was given to the forwarder.
  var began = NIODeadline.distantPast
  /// The number of times that it was sent. The upstream refused each attempt before the last.
  var attempts = 0
  /// The stream on which it was sent last.
  var stream: Int32 = 0
  private(set) var isOver = false
  /// Called if the sender ends its stream before the end of the push.
  var abandoned: (() -> Void)?
  private var ended: ((ForwardOutcome) -> Void)?

  /// - Parameter ended: called at most once, on the event loop.
  init(
    _ environment: Environment, authorization: [UInt8], isVerified: Bool, head: HeaderFields, body: [UInt8],
    ended: @escaping (ForwardOutcome) -> Void
  ) {
    (self.environment, self.authorization, self.isVerified) = (environment, authorization, isVerified)
    (self.head, self.body, self.ended) = (head, body, ended)
    size = ForwardedPush.ownSize + authorization.count + head.bytes.count + body.count
  }

  /// The estimated memory of a push in bytes, without its texts.
  private static let ownSize = 1 << 10

  /// Ends the push, and reports its outcome. Further calls have no effect.
  func end(_ outcome: ForwardOutcome) {
    guard !isOver else { return }
    isOver = true
    (head, body, abandoned) = (HeaderFields(), [], nil)
    let ended = ended
    self.ended = nil
    ended?(outcome)
  }

  // MARK: StreamConsumer: the stream of the sender

  func closed() { if !isOver { abandoned?() } }
}
