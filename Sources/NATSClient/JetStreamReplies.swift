import Foundation
import PushCore
import PushPolicy
import Synchronization

/// The readers of JetStream's answers. The size of an answer is limited to ``maximumSize`` bytes; a larger
/// one is refused.
enum JetStreamReplies {
  static let maximumSize = 32 << 20
  private static let parser = Mutex(JSONParser())

  /// The members of a publish acknowledgement or of an error answer.
  private struct Head: Sendable {
    var stream: String?
    var sequence: Int?
    var isDuplicate = false
    var error: JetStreamError?
  }

  private static func head(_ body: [UInt8]) throws(JetStreamError) -> Head {
    guard body.count <= maximumSize else { throw .malformed("\(body.count) bytes") }
    let head = parser.withLock { parser in
      try? parser.parse(body.span) { root in
        var head = Head(
          stream: root["stream"]?.string, sequence: root["seq"]?.integer,
          isDuplicate: root["duplicate"]?.boolean ?? false)
        if let error = root["error"] {
          head.error = .refused(
            status: error["code"]?.integer ?? 500,
            code: JetStreamError.ErrorCode(rawValue: error["err_code"]?.integer ?? 0),
            description: error["description"]?.string ?? "no reason given")
        }
        return head
      }
    }
    guard let head else { throw .malformed("no JSON") }
    return head
  }

  static func acknowledgement(_ message: NATSMessage) throws(JetStreamError) -> PublishAcknowledgement {
    let head = try head(message.body)
    if let error = head.error { throw error }
    guard let stream = head.stream, let sequence = head.sequence, sequence > 0 else {
      throw .malformed("it acknowledges nothing")
    }
    return PublishAcknowledgement(stream: stream, sequence: UInt64(sequence), isDuplicate: head.isDuplicate)
  }

  /// Throws the error of an answer that contains one.
  static func check(_ message: NATSMessage) throws(JetStreamError) {
    if let error = try head(message.body).error { throw error }
  }

  /// Reads the level of the API from the description of an account; nil before 2.11.
  static func apiLevel(_ message: NATSMessage) throws(JetStreamError) -> Int? {
    try check(message)
    return parser.withLock { parser in
      try? parser.parse(message.body.span) { root -> Int? in
        guard let api = root["api"] else { return nil }
        return api["level"]?.integer
      }
    }
  }

  static func value<Value: Decodable>(_ type: Value.Type, _ message: NATSMessage) throws(JetStreamError) -> Value {
    try check(message)
    do { return try decodeJSON(from: message.body) } catch { throw .malformed("\(error)") }
  }

  /// Reads a message from the answer of a replica to a direct get.
  static func direct(_ message: NATSMessage) throws(JetStreamError) -> StoredMessage {
    if let status = message.status {
      throw .refused(
        status: status, code: JetStreamError.ErrorCode(rawValue: status == 404 ? 10037 : 0),
        description: message.header("Description") ?? "status \(status)")
    }
    guard let sequence = message.sequence, let subject = message.header("Nats-Subject")
    else { throw .malformed("a message without its number") }
    return StoredMessage(sequence: sequence, subject: subject, headers: message.headers, body: message.body)
  }

  /// Reads a message from the answer of the leader.
  static func stored(_ message: NATSMessage) throws(JetStreamError) -> StoredMessage {
    struct Answer: Decodable {
      struct Message: Decodable {
        var subject: String
        var seq: UInt64
        var hdrs: Data?
        var data: Data?
      }
      var message: Message
    }
    let found = try value(Answer.self, message).message
    guard Int64(exactly: found.seq) != nil else { throw .malformed("a message has the number \(found.seq)") }
    return StoredMessage(
      sequence: found.seq, subject: found.subject, headers: headers(found.hdrs ?? Data()),
      body: Array(found.data ?? Data()))
  }

  /// Returns the lines of a header block without the first, which is the version of the protocol.
  static func headers(_ block: Data) -> [(name: String, value: String)] {
    String(decoding: block, as: UTF8.self).split(separator: "\r\n").dropFirst().compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      return (String(line[..<colon]), String(line[colon...].dropFirst().drop { $0 == " " }))
    }
  }
}
