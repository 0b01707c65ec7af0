import NATSClient
import NATSTesting

/// A link with a fault of the client: it misreads answers or changes requests.
final class FaultyTransport: NATSTransport {
  typealias Answer = Result<NATSMessage, NATSError>

  private let inner: ModelLink
  private let answer: @Sendable (_ subject: String, Answer) -> Answer
  /// Returns the error for a request that is not sent, or nil to send it.
  private let refusal: @Sendable (_ subject: String) -> NATSError?

  init(
    _ link: ModelLink, refusal: @escaping @Sendable (_ subject: String) -> NATSError? = { _ in nil },
    answer: @escaping @Sendable (_ subject: String, Answer) -> Answer = { $1 }
  ) { (inner, self.refusal, self.answer) = (link, refusal, answer) }

  func request(
    _ subject: String, headers: [(name: String, value: String)], _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Answer) -> Void
  ) {
    if let refusal = refusal(subject) { return completion(.failure(refusal)) }
    inner.request(subject, headers: headers, body, timeout: timeout) { [answer] in completion(answer(subject, $0)) }
  }

  func requestMany(
    _ subject: String, _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<[NATSMessage], NATSError>) -> Void
  ) { inner.requestMany(subject, body, timeout: timeout, completion: completion) }

  func publish(_ subject: String, reply: String?, headers: [(name: String, value: String)], _ body: [UInt8]) {
    inner.publish(subject, reply: reply, headers: headers, body)
  }

  func subscribe(
    _ subject: String, queue: String?, _ handler: @escaping @Sendable (NATSMessage) -> Void
  ) throws(NATSError) -> @Sendable () -> Void { try inner.subscribe(subject, queue: queue, handler) }

  func onLink(_ listener: @escaping @Sendable (LinkState) -> Void) { inner.onLink(listener) }
  var link: LinkState { inner.link }
  func reconnect() { inner.reconnect() }
}
