import NATSClient
import Synchronization

/// Brokers that answer requests with the messages of an input, in order. After the last message they do not answer.
final class ScriptedTransport: NATSTransport {
  private let script: Mutex<ArraySlice<NATSMessage>>
  private let handlers = Mutex<[@Sendable (NATSMessage) -> Void]>([])

  init(_ script: some Collection<NATSMessage>) { self.script = Mutex(Array(script)[...]) }

  let link = LinkState.connected(server: "script")

  /// Returns the messages of a text. Each message consists of lines with headers, an empty line and a body, and ends at
  /// a line `---`.
  static func messages(_ bytes: [UInt8]) -> [NATSMessage] {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return lines.split(separator: Array("---".utf8)[...], omittingEmptySubsequences: true).prefix(64).map(message)
  }

  private static func message(_ lines: ArraySlice<ArraySlice<UInt8>>) -> NATSMessage {
    let head = lines.prefix { !$0.isEmpty }
    let headers = head.map { line in
      let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
      return (name: parts.first ?? "", value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
    }
    let body = Array(lines.dropFirst(head.count + 1).joined(separator: [UInt8(ascii: "\n")]))
    return NATSMessage(subject: "script", headers: headers, body: body)
  }

  /// Passes a message to all subscriptions.
  func deliver(_ message: NATSMessage) { for handler in handlers.withLock({ $0 }) { handler(message) } }

  // MARK: NATSTransport

  func request(
    _ subject: String, headers: [(name: String, value: String)], _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<NATSMessage, NATSError>) -> Void
  ) {
    let next = script.withLock { $0.popFirst() }
    completion(next.map { .success($0) } ?? .failure(.closed))
  }

  /// Answers with the messages up to the next status message.
  func requestMany(
    _ subject: String, _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<[NATSMessage], NATSError>) -> Void
  ) {
    let messages = script.withLock { script -> [NATSMessage]? in
      guard let end = script.firstIndex(where: { $0.status != nil }) else { return nil }
      defer { script = script[(end + 1)...] }
      return Array(script[...end])
    }
    completion(messages.map { .success($0) } ?? .failure(.closed))
  }

  func publish(_ subject: String, reply: String?, headers: [(name: String, value: String)], _ body: [UInt8]) {}

  func subscribe(
    _ subject: String, queue: String?, _ handler: @escaping @Sendable (NATSMessage) -> Void
  ) throws(NATSError) -> @Sendable () -> Void {
    handlers.withLock { $0.append(handler) }
    return {}
  }

  func onLink(_ listener: @escaping @Sendable (LinkState) -> Void) {}
  func reconnect() {}
}
