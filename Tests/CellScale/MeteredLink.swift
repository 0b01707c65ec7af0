import NATSClient
import NATSTesting
import Synchronization

/// A gateway's link to the modeled broker. It counts the messages, and the processor time of the gateway's code on the
/// model's thread.
final class MeteredLink: NATSTransport {
  private let model: ModelLink
  private let counts = Mutex(Traffic())
  private let nanoseconds = Atomic<UInt64>(0)
  /// The number of deletions that were answered.
  let deleted = Tally()

  init(_ model: ModelLink) { self.model = model }

  var traffic: Traffic { counts.withLock { $0 } }
  var processorTime: Duration { .nanoseconds(Int64(nanoseconds.load(ordering: .relaxed))) }

  private func note(_ kind: Traffic.Kind, sent: Int = 0, _ received: [NATSMessage] = [], bytes: Int = 0) {
    counts.withLock { counts in
      counts[kind].sent += sent
      counts[kind].received += received.count
      counts[kind].bytes += bytes + received.reduce(0) { $0 + MeteredLink.size($1.subject, $1.headers, $1.body) }
    }
  }

  /// Returns the size of a message in bytes, without the few bytes of the NATS protocol itself.
  private static func size(_ subject: String, _ headers: [(name: String, value: String)], _ body: [UInt8]) -> Int {
    subject.utf8.count + headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 } + body.count
  }

  private func timed(_ body: () -> Void) {
    let start = threadTime()
    body()
    nanoseconds.add(threadTime() &- start, ordering: .relaxed)
  }

  // MARK: NATSTransport

  func request(
    _ subject: String, headers: [(name: String, value: String)], _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<NATSMessage, NATSError>) -> Void
  ) {
    let kind = Traffic.Kind(subject)
    note(kind, sent: 1, bytes: MeteredLink.size(subject, headers, body))
    model.request(subject, headers: headers, body, timeout: timeout) { [self] answer in
      timed {
        note(kind, (try? answer.get()).map { [$0] } ?? [])
        completion(answer)
      }
      if kind == .delete { deleted.add() }
    }
  }

  func requestMany(
    _ subject: String, _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<[NATSMessage], NATSError>) -> Void
  ) {
    let kind = Traffic.Kind(subject, isMany: true)
    note(kind, sent: 1, bytes: MeteredLink.size(subject, [], body))
    model.requestMany(subject, body, timeout: timeout) { [self] answer in
      timed {
        note(kind, (try? answer.get()) ?? [])
        completion(answer)
      }
    }
  }

  func publish(_ subject: String, reply: String?, headers: [(name: String, value: String)], _ body: [UInt8]) {
    note(Traffic.Kind(subject), sent: 1, bytes: MeteredLink.size(subject, headers, body))
    model.publish(subject, reply: reply, headers: headers, body)
  }

  func subscribe(
    _ subject: String, queue: String?, _ handler: @escaping @Sendable (NATSMessage) -> Void
  ) throws(NATSError) -> @Sendable () -> Void {
    note(.subscribe, sent: 1, bytes: subject.utf8.count)
    let kind = Traffic.Kind(subject)
    return try model.subscribe(subject, queue: queue) { [weak self] message in
      self?.timed {
        self?.note(kind, [message])
        handler(message)
      }
    }
  }

  func onLink(_ listener: @escaping @Sendable (LinkState) -> Void) { model.onLink(listener) }
  var link: LinkState { model.link }
  func reconnect() { model.reconnect() }
  func close() { model.close() }
}
