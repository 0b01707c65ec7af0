import PushCore

/// What JetStream can be asked for, over a transport.
package struct JetStream: Sendable {
  package let transport: any NATSTransport
  /// How long an answer is waited for.
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

  /// A message as any replica has it, which may lag; nil: there is none.
  package func message(_ stream: String, sequence: UInt64) async throws(JetStreamError) -> StoredMessage? {
    try await direct(stream, Get(seq: sequence))
  }

  /// The last message of a subject as any replica has it, which may lag; nil: there is none.
  package func lastMessage(_ stream: String, subject: String) async throws(JetStreamError) -> StoredMessage? {
    try await direct(stream, Get(lastBySubject: subject))
  }

  /// A message as the leader has it; nil: there is none.
  package func leaderMessage(_ stream: String, sequence: UInt64) async throws(JetStreamError) -> StoredMessage? {
    try await JetStream.unlessMissing { () async throws(JetStreamError) in
      try await ask("STREAM.MSG.GET.\(stream)", Get(seq: sequence), JetStreamReplies.stored)
    }
  }

  /// The last message of a subject as the leader has it; nil: there is none.
  package func leaderMessage(_ stream: String, lastOf subject: String) async throws(JetStreamError) -> StoredMessage? {
    try await JetStream.unlessMissing { () async throws(JetStreamError) in
      try await ask("STREAM.MSG.GET.\(stream)", Get(lastBySubject: subject), JetStreamReplies.stored)
    }
  }

  /// Messages of a subject from a number on, as any replica has them, which may lag.
  package func messages(
    _ stream: String, subject: String, from sequence: UInt64, limit: Int, maximumSize: Int? = nil
  ) async throws(JetStreamError) -> MessageBatch {
    try await batch(
      stream, Get(seq: max(1, sequence), nextBySubject: subject, batch: limit, maximumSize: maximumSize))
  }

  /// The last message of each of some subjects, as any replica has it, which may lag; brokers look for 1,024 at most.
  ///
  /// A subject without a message takes no part in the answer, nor any of its time.
  package func lastMessages(_ stream: String, subjects: [String]) async throws(JetStreamError) -> [StoredMessage] {
    try await batch(stream, Get(lastBySubjects: subjects)).messages
  }

  private func batch(_ stream: String, _ get: Get) async throws(JetStreamError) -> MessageBatch {
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
    // No stream holds more.
    let remaining = end.header("Nats-Num-Pending").flatMap { UInt64($0) }.map { min($0, UInt64(UInt32.max)) }
    return MessageBatch(messages: messages, remaining: remaining ?? 0)
  }

  /// Removes a message; one that is not there is an error that ``JetStreamError/isNotFound`` tells.
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

  /// Removes what a subject has, save the newest `keep`, or what is below a number.
  package func purge(
    _ stream: String, subject: String? = nil, keep: Int? = nil, below sequence: UInt64? = nil
  ) async throws(JetStreamError) {
    try await ask("STREAM.PURGE.\(stream)", Purge(filter: subject, keep: keep, seq: sequence), JetStreamReplies.check)
  }

  // MARK: Streams

  package func createStream(_ configuration: StreamConfiguration) async throws(JetStreamError) -> StreamInfo {
    try await ask("STREAM.CREATE.\(configuration.name)", configuration, JetStream.info)
  }

  package func updateStream(_ configuration: StreamConfiguration) async throws(JetStreamError) -> StreamInfo {
    try await ask("STREAM.UPDATE.\(configuration.name)", configuration, JetStream.info)
  }

  /// Creates a stream, or changes the one that is there to what is wanted.
  package func ensureStream(_ configuration: StreamConfiguration) async throws(JetStreamError) -> StreamInfo {
    do { return try await createStream(configuration) } catch {
      guard error.code == .streamNameInUse else { throw error }
      return try await updateStream(configuration)
    }
  }

  package func deleteStream(_ name: String) async throws(JetStreamError) {
    try await ask("STREAM.DELETE.\(name)", [String: String](), JetStreamReplies.check)
  }

  /// - Parameter subjects: of what the counts are told besides; a filter.
  /// - Returns: nil when there is no such stream.
  package func streamInfo(_ name: String, subjects: String? = nil) async throws(JetStreamError) -> StreamInfo? {
    try await JetStream.unlessMissing { () async throws(JetStreamError) in
      try await ask("STREAM.INFO.\(name)", subjects.map { ["subjects_filter": $0] } ?? [:], JetStream.info)
    }
  }

  /// Refuses a cluster that is older than 2.11, or without JetStream.
  ///
  /// - Throws: `.link(.refused)` for one that will be refused later, too.
  package func requireBroker() async throws(JetStreamError) {
    let account: Account
    do { account = try await self.account() } catch {
      guard error.code == .notEnabled else { throw error }
      throw .link(.refused("the NATS servers have no JetStream: enable it (jetstream { … }) on 2.11 or newer"))
    }
    // Servers say a level from 2.11 on, which has what the mailbox needs: a time to live for each message.
    guard account.api.level ?? 0 >= 1 else {
      throw .link(.refused("the NATS servers are older than 2.11: upgrade them; 2.15 was tested"))
    }
  }

  /// Asks whoever leads the cluster; a broker that is cut off from it has no answer.
  package func requireLeader() async throws(JetStreamError) { _ = try await account() }

  private func account() async throws(JetStreamError) -> Account {
    try await ask("INFO", [String: String]()) { message throws(JetStreamError) in
      try JetStreamReplies.value(Account.self, message)
    }
  }

  // MARK: Asking

  // These are members, since a type inside a function ends the compiler of Swift 6.3 when another module inlines it.

  private struct Purge: Encodable {
    var filter: String?
    var keep: Int?
    var seq: UInt64?
  }

  private struct Account: Decodable {
    struct API: Decodable { var level: Int? }
    var api: API
  }

  private struct Get: Encodable {
    var seq: UInt64?
    var lastBySubject: String?
    var lastBySubjects: [String]?
    var nextBySubject: String?
    var batch: Int?
    var maximumSize: Int?

    enum CodingKeys: String, CodingKey {
      case seq, batch
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
