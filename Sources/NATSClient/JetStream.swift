import PushCore

/// The API of JetStream, over a transport.
package struct JetStream: Sendable {
  package let transport: any NATSTransport
  /// The time that a request waits for its answer.
  package var timeout: Duration

  package init(_ transport: any NATSTransport, timeout: Duration = .seconds(2)) {
    self.transport = transport
    self.timeout = timeout
  }

  // MARK: Messages

  /// Stores a message in the stream that has its subject; `completion` is called as that of
  /// ``NATSTransport/request(_:headers:_:timeout:completion:)`` is.
  package func publish(
    _ subject: String, headers: [(name: String, value: String)] = [], _ body: [UInt8], timeout: Duration? = nil,
    completion: @escaping @Sendable (Result<PublishAcknowledgement, JetStreamError>) -> Void
  ) {
    transport.request(subject, headers: headers, body, timeout: timeout ?? self.timeout) { answer in
      completion(
        JetStream.read(answer) { message throws(JetStreamError) in try JetStreamReplies.acknowledgement(message) })
    }
  }

  package func publish(
    _ subject: String, headers: [(name: String, value: String)] = [], _ body: [UInt8], timeout: Duration? = nil
  ) async throws(JetStreamError) -> PublishAcknowledgement {
    try await withCheckedContinuation { continuation in
      publish(subject, headers: headers, body, timeout: timeout) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Returns a message from any replica, which may lag; nil: it does not exist.
  package func message(_ stream: String, sequence: UInt64) async throws(JetStreamError) -> StoredMessage? {
    try await direct(stream, Get(seq: sequence))
  }

  /// Returns the last message of a subject from any replica, which may lag; nil: it does not exist.
  package func lastMessage(_ stream: String, subject: String) async throws(JetStreamError) -> StoredMessage? {
    try await direct(stream, Get(lastBySubject: subject))
  }

  /// Returns a message from the leader; nil: it does not exist.
  package func leaderMessage(_ stream: String, sequence: UInt64) async throws(JetStreamError) -> StoredMessage? {
    try await JetStream.unlessMissing { () async throws(JetStreamError) in
      try await ask("STREAM.MSG.GET.\(stream)", Get(seq: sequence), JetStreamReplies.stored)
    }
  }

  /// Returns the last message of a subject from the leader; nil: it does not exist.
  package func leaderMessage(_ stream: String, lastOf subject: String) async throws(JetStreamError) -> StoredMessage? {
    try await JetStream.unlessMissing { () async throws(JetStreamError) in
      try await ask("STREAM.MSG.GET.\(stream)", Get(lastBySubject: subject), JetStreamReplies.stored)
    }
  }

  /// Returns the first message of a subject from a sequence number on, from the leader; nil: it does not exist.
  package func leaderMessage(
    _ stream: String, nextOf subject: String, from sequence: UInt64
  ) async throws(JetStreamError) -> StoredMessage? {
    try await JetStream.unlessMissing { () async throws(JetStreamError) in
      try await ask(
        "STREAM.MSG.GET.\(stream)", Get(seq: max(1, sequence), nextBySubject: subject), JetStreamReplies.stored)
    }
  }

  /// Returns messages of a subject from a sequence number on, from any replica, which may lag, and the number of
  /// messages after these that the replica has.
  package func messages(
    _ stream: String, subject: String, from sequence: UInt64, limit: Int, maximumSize: Int? = nil
  ) async throws(JetStreamError) -> (messages: [StoredMessage], remaining: UInt64) {
    try await batch(
      stream, Get(seq: max(1, sequence), nextBySubject: subject, batch: limit, maximumSize: maximumSize))
  }

  /// Returns the last message of each subject in `subjects`, from any replica, which may lag. Brokers accept at most
  /// 1,024 subjects.
  ///
  /// A subject without a message does not appear in the answer, and does not delay it.
  package func lastMessages(_ stream: String, subjects: [String]) async throws(JetStreamError) -> [StoredMessage] {
    try await batch(stream, Get(lastBySubjects: subjects)).messages
  }

  private func batch(
    _ stream: String, _ get: Get
  ) async throws(JetStreamError) -> (messages: [StoredMessage], remaining: UInt64) {
    var answers: [NATSMessage]
    do {
      answers = try await transport.requestMany(
        "$JS.API.DIRECT.GET.\(stream)", controlJSON(get), timeout: timeout)
    } catch { throw .link(error) }
    guard let end = answers.popLast() else { throw .malformed("a batch without an end") }
    guard let status = end.status, status == 204 || status == 404 else {
      throw .refused(
        status: end.status ?? 0, code: JetStreamError.ErrorCode(rawValue: 0),
        description: end.header("Description") ?? "the batch was not read")
    }
    var messages: [StoredMessage] = []
    for answer in answers { messages.append(try JetStreamReplies.direct(answer)) }
    // No stream contains more messages.
    let remaining = end.header("Nats-Num-Pending").flatMap { UInt64($0) }.map { min($0, UInt64(UInt32.max)) }
    return (messages, remaining ?? 0)
  }

  /// Removes a message; one that does not exist is an error for which ``JetStreamError/isNotFound`` is true.
  package func delete(
    _ stream: String, sequence: UInt64, completion: @escaping @Sendable (Result<Void, JetStreamError>) -> Void
  ) {
    let body = Array(#"{"seq":\#(sequence),"no_erase":true}"#.utf8)
    transport.request("$JS.API.STREAM.MSG.DELETE.\(stream)", headers: [], body, timeout: timeout) { answer in
      completion(JetStream.read(answer) { message throws(JetStreamError) in try JetStreamReplies.check(message) })
    }
  }

  package func delete(_ stream: String, sequence: UInt64) async throws(JetStreamError) {
    try await withCheckedContinuation { continuation in
      delete(stream, sequence: sequence) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Removes the messages of a subject except the newest `keep`, or those below a sequence number.
  package func purge(
    _ stream: String, subject: String? = nil, keep: Int? = nil, below sequence: UInt64? = nil
  ) async throws(JetStreamError) {
    try await ask("STREAM.PURGE.\(stream)", Get(seq: sequence, filter: subject, keep: keep), JetStreamReplies.check)
  }

  // MARK: Streams

  package func createStream(_ configuration: StreamConfiguration) async throws(JetStreamError) -> StreamInfo {
    try await ask("STREAM.CREATE.\(configuration.name)", configuration, JetStream.info)
  }

  package func updateStream(_ configuration: StreamConfiguration) async throws(JetStreamError) -> StreamInfo {
    try await ask("STREAM.UPDATE.\(configuration.name)", configuration, JetStream.info)
  }

  /// Creates a stream, or updates the existing one to the configuration.
  package func ensureStream(_ configuration: StreamConfiguration) async throws(JetStreamError) -> StreamInfo {
    do { return try await createStream(configuration) } catch {
      guard error.code == .streamNameInUse else { throw error }
      return try await updateStream(configuration)
    }
  }

  package func deleteStream(_ name: String) async throws(JetStreamError) {
    try await ask("STREAM.DELETE.\(name)", [String: String](), JetStreamReplies.check)
  }

  /// Returns the state of a stream.
  ///
  /// - Parameter subjects: a filter of the subjects whose message counts are also returned.
  /// - Returns: the state; nil when there is no such stream.
  package func streamInfo(_ name: String, subjects: String? = nil) async throws(JetStreamError) -> StreamInfo? {
    try await JetStream.unlessMissing { () async throws(JetStreamError) in
      try await ask("STREAM.INFO.\(name)", subjects.map { ["subjects_filter": $0] } ?? [:], JetStream.info)
    }
  }

  /// Refuses a cluster that is older than 2.11, or without JetStream.
  ///
  /// - Throws: `.link(.refused)` for a cluster that a later attempt would also refuse.
  package func requireBroker() async throws(JetStreamError) {
    let level: Int?
    do { level = try await apiLevel() } catch {
      guard error.code == .notEnabled else { throw error }
      throw .link(.refused("the NATS servers have no JetStream: enable it (jetstream { … }) on 2.11 or newer"))
    }
    // Servers report an API level from 2.11 on. The mailbox needs a feature of 2.11: a time to live for each message.
    guard let level, level >= 1 else {
      throw .link(.refused("the NATS servers are older than 2.11: upgrade them; 2.15 was tested"))
    }
  }

  /// Sends a request that only the leader of the cluster answers; it fails on a broker without a connection
  /// to the leader.
  package func requireLeader() async throws(JetStreamError) { _ = try await apiLevel() }

  private func apiLevel() async throws(JetStreamError) -> Int? {
    try await ask("INFO", [String: String](), JetStreamReplies.apiLevel)
  }

  // MARK: Requests

  /// The messages to read, or to remove from a stream.
  private struct Get: Encodable {
    var seq: UInt64?
    var lastBySubject: String?
    var lastBySubjects: [String]?
    var nextBySubject: String?
    var batch: Int?
    var maximumSize: Int?
    /// The subject whose messages are removed, except the newest `keep`.
    var filter: String?
    var keep: Int?

    enum CodingKeys: String, CodingKey {
      case seq, batch, filter, keep
      case lastBySubject = "last_by_subj"
      case lastBySubjects = "multi_last"
      case nextBySubject = "next_by_subj"
      case maximumSize = "max_bytes"
    }
  }

  private static func info(_ message: NATSMessage) throws(JetStreamError) -> StreamInfo {
    try JetStreamReplies.value(StreamInfo.self, message)
  }

  private func direct(_ stream: String, _ get: Get) async throws(JetStreamError) -> StoredMessage? {
    try await JetStream.unlessMissing { () async throws(JetStreamError) in
      try await ask("DIRECT.GET.\(stream)", get, JetStreamReplies.direct)
    }
  }

  private func ask<Value>(
    _ what: String, _ body: some Encodable, _ read: (NATSMessage) throws(JetStreamError) -> Value
  ) async throws(JetStreamError) -> Value {
    let answer: NATSMessage
    do {
      answer = try await transport.request("$JS.API.\(what)", controlJSON(body), timeout: timeout)
    } catch { throw .link(error) }
    return try read(answer)
  }

  private static func read<Value>(
    _ answer: Result<NATSMessage, NATSError>, _ read: (NATSMessage) throws(JetStreamError) -> Value
  ) -> Result<Value, JetStreamError> {
    switch answer {
    case .success(let message): Result { () throws(JetStreamError) in try read(message) }
    case .failure(let error): .failure(.link(error))
    }
  }

  private static func unlessMissing<Value>(
    _ body: () async throws(JetStreamError) -> Value
  ) async throws(JetStreamError) -> Value? {
    do { return try await body() } catch {
      guard error.isNotFound else { throw error }
      return nil
    }
  }
}
