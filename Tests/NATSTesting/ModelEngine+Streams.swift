import Foundation
import NATSClient
import PushCore

// The streams and their API.

extension ModelEngine.State {
  typealias Done = (answers: [NATSMessage]?, published: [NATSMessage])

  /// Processes a message to a stream or to the API.
  ///
  /// - Returns: Nil answers if the message is for neither a stream nor the API.
  mutating func take(_ message: NATSMessage, now: Duration) -> Done {
    for name in streams.keys { streams[name]?.expire(now) }
    if message.subject.hasPrefix("$JS.API.") {
      let words = message.subject.dropFirst("$JS.API.".count).split(separator: ".").map(String.init)
      return (ask(words, message.body, now), [])
    }
    guard let stream = streams.first(where: { $0.value.takes(message.subject) })?.key else { return (nil, []) }
    return publish(message, in: stream, now)
  }

  // MARK: Storing

  private mutating func publish(_ message: NATSMessage, in name: String, _ now: Duration) -> Done {
    // Without a leader, the request has no responder or gets no answer.
    if now < electedAt { return (happens(0.5) ? nil : [], []) }
    if message.reply != nil, happens(faults.lostWrites) {
      return ([PublishAnswer(name, (streams[name]?.lastSequence ?? 0) + 1).message], [])
    }
    note(name, now)
    do throws(ModelStream.Refusal) {
      guard
        let stored = try streams[name]?.store(
          message.subject, message.headers, message.body, now: now, isForgetful: faults.forgetsIDs)
      else { return (nil, []) }
      if !isReliable, let id = message.header("Nats-Msg-Id") { storedIDs.insert(id) }
      let published = stored.isDuplicate ? [] : republished(message, stored, name)
      if happens(faults.doubtfulRefusals) { return ([refusal(.temporary)], published) }
      return ([PublishAnswer(name, stored.sequence, stored.isDuplicate).message], published)
    } catch { return ([refusal(error)], []) }
  }

  private func republished(_ message: NATSMessage, _ stored: ModelStream.Stored, _ name: String) -> [NATSMessage] {
    guard let rule = streams[name]?.configuration.republish,
      let subject = SubjectPattern(rule.source).mapped(message.subject, to: rule.destination)
    else { return [] }
    let added = [
      (name: "Nats-Stream", value: name), ("Nats-Subject", message.subject), ("Nats-Sequence", "\(stored.sequence)"),
      ("Nats-Last-Sequence", "\(stored.previous)"),
    ]
    return [NATSMessage(subject: subject, headers: message.headers + added, body: message.body)]
  }

  /// Keeps the state of a stream, for reads from a replica that lags.
  private mutating func note(_ name: String, _ now: Duration) {
    guard faults.staleReads > 0, let stream = streams[name] else { return }
    past[name, default: []].append((now, stream))
    past[name]?.removeAll { now - $0.time > faults.staleness }
  }

  // MARK: The API

  private mutating func ask(_ words: [String], _ body: [UInt8], _ now: Duration) -> [NATSMessage]? {
    guard let name = words.last else { return nil }
    if words.starts(with: ["DIRECT", "GET"]) { return read(name, body, now) }
    if now < electedAt { return happens(0.5) ? [refusal(.temporary)] : [] }
    do throws(ModelStream.Refusal) {
      switch words.dropLast() {
      case []: return [AccountAnswer(api: AccountAnswer.API(level: level)).message]
      case ["STREAM", "CREATE"]: return [try create(body, now)]
      case ["STREAM", "UPDATE"]: return [try update(name, body)]
      case ["STREAM", "INFO"]:
        return [json(try stream(name).info(subjects: decode(InfoRequest.self, body)?.filter))]
      case ["STREAM", "DELETE"]:
        _ = try stream(name)
        streams[name] = nil
      case ["STREAM", "PURGE"]:
        _ = try stream(name)
        note(name, now)
        let purge = decode(Purge.self, body)
        _ = streams[name]?.purge(filter: purge?.filter, keep: purge?.keep, below: purge?.seq)
      case ["STREAM", "MSG", "DELETE"]: try delete(name, body, now)
      case ["STREAM", "MSG", "GET"]: return [try leaderMessage(name, body)]
      default: return nil
      }
      return happens(faults.doubtfulRefusals) ? [refusal(.temporary)] : [json(["success": true])]
    } catch { return [refusal(error)] }
  }

  private func stream(_ name: String) throws(ModelStream.Refusal) -> ModelStream {
    guard let stream = streams[name] else {
      throw ModelStream.Refusal(status: 404, code: 10059, description: "stream not found")
    }
    return stream
  }

  private mutating func create(_ body: [UInt8], _ now: Duration) throws(ModelStream.Refusal) -> NATSMessage {
    guard let wanted = decode(StreamConfiguration.self, body) else { throw .noMessage }
    if let found = streams[wanted.name] {
      guard found.configuration == wanted else {
        throw ModelStream.Refusal(
          status: 400, code: 10058, description: "stream name already in use with a different configuration")
      }
      return json(found.info(subjects: nil))
    }
    let made = ModelStream(wanted)
    streams[wanted.name] = made
    return json(made.info(subjects: nil))
  }

  private mutating func update(_ name: String, _ body: [UInt8]) throws(ModelStream.Refusal) -> NATSMessage {
    guard let wanted = decode(StreamConfiguration.self, body) else { throw .noMessage }
    guard try stream(name).configuration.firstSequence == wanted.firstSequence else {
      throw ModelStream.Refusal(
        status: 500, code: 10052, description: "stream configuration update can not change first sequence")
    }
    streams[name]?.configuration = wanted
    return json(try stream(name).info(subjects: nil))
  }

  private mutating func delete(_ name: String, _ body: [UInt8], _ now: Duration) throws(ModelStream.Refusal) {
    _ = try stream(name)
    guard let sequence = decode(Get.self, body)?.seq else { throw .noMessage }
    if isThere(sequence, in: name), happens(faults.keepsDeleted) { return }
    note(name, now)
    try streams[name]?.remove(sequence)
  }

  private func isThere(_ sequence: UInt64, in name: String) -> Bool { streams[name]?.message(sequence) != nil }

  private func leaderMessage(_ name: String, _ body: [UInt8]) throws(ModelStream.Refusal) -> NATSMessage {
    let (get, stream) = (decode(Get.self, body), try stream(name))
    if let subject = get?.nextBySubject {
      guard let next = stream.numbers(of: subject, from: get?.seq ?? 1).first.flatMap(stream.message) else {
        throw .noMessage
      }
      return LeaderAnswer(next).message
    }
    let found = get?.seq.map { stream.message($0) } ?? get?.lastBySubject.map { stream.last(of: $0) } ?? nil
    guard let found else { throw .noMessage }
    return LeaderAnswer(found).message
  }

  // MARK: Reading from any replica

  private mutating func read(_ name: String, _ body: [UInt8], _ now: Duration) -> [NATSMessage]? {
    guard let leader = streams[name], leader.configuration.allowsDirect == true, let get = decode(Get.self, body)
    else { return nil }
    var stream = leader
    if happens(faults.staleReads) {
      let old = past[name]?.filter { now - $0.time <= faults.staleness }.randomElement(using: &random)
      stream = old?.stream ?? leader
    }
    if let subject = get.nextBySubject { return batch(stream, subject, get) }
    if let subjects = get.lastBySubjects { return lastOfEach(stream, subjects) }
    let found = get.seq.map { stream.message($0) } ?? get.lastBySubject.map { stream.last(of: $0) } ?? nil
    return [found.map { direct($0, stream, []) } ?? status(404, "Message Not Found")]
  }

  /// Brokers return at most 1,024 messages.
  private func batch(_ stream: ModelStream, _ subject: String, _ get: Get) -> [NATSMessage] {
    let all = stream.numbers(of: subject, from: get.seq ?? 1)
    guard !all.isEmpty else { return [status(404, "No Results")] }
    var (answers, size, last): ([NATSMessage], Int, UInt64) = ([], 0, 0)
    for message in all.prefix(min(1024, get.batch ?? 1)).lazy.compactMap(stream.message) {
      if let most = get.maximumSize, !answers.isEmpty, size + message.body.count > most { break }
      size += message.body.count
      let added = [
        (name: "Nats-Num-Pending", value: "\(all.count - answers.count - 1)"), ("Nats-Last-Sequence", "\(last)"),
      ]
      answers.append(direct(message, stream, added))
      last = message.sequence
    }
    let rest = "\(all.count - answers.count)"
    return answers + [status(204, "EOB", [("Nats-Num-Pending", rest), ("Nats-Last-Sequence", "\(last)")])]
  }

  private func lastOfEach(_ stream: ModelStream, _ subjects: [String]) -> [NATSMessage] {
    let found = subjects.compactMap { stream.last(of: $0) }.sorted { $0.sequence < $1.sequence }
    guard !found.isEmpty else { return [status(404, "No Results")] }
    guard found.count <= 1024 else { return [status(413, "Too Many Results")] }
    return found.map { direct($0, stream, []) } + [status(204, "EOB", [("Nats-Num-Pending", "0")])]
  }

  private func direct(
    _ message: ModelStream.Message, _ stream: ModelStream, _ added: [(name: String, value: String)]
  ) -> NATSMessage {
    let own = [
      (name: "Nats-Stream", value: stream.configuration.name), ("Nats-Subject", message.subject),
      ("Nats-Sequence", "\(message.sequence)"), ("Nats-Time-Stamp", timeText(message.time)),
    ]
    return NATSMessage(subject: "", headers: message.headers + own + added, body: message.body)
  }
}

// MARK: Requests and answers

private struct Get: Decodable {
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

private struct Purge: Decodable {
  var filter: String?
  var keep: Int?
  var seq: UInt64?
}

private struct InfoRequest: Decodable {
  var filter: String?
  enum CodingKeys: String, CodingKey { case filter = "subjects_filter" }
}

private struct AccountAnswer: Encodable {
  struct API: Encodable { var level: Int? }
  var api: API
  var message: NATSMessage { json(self) }
}

private struct PublishAnswer: Encodable {
  var stream: String
  var seq: UInt64
  var duplicate: Bool?

  init(_ stream: String, _ sequence: UInt64, _ isDuplicate: Bool = false) {
    (self.stream, seq, duplicate) = (stream, sequence, isDuplicate ? true : nil)
  }

  var message: NATSMessage { json(self) }
}

private struct LeaderAnswer: Encodable {
  struct Message: Encodable {
    var subject: String
    var seq: UInt64
    var hdrs: Data?
    var data: Data
    var time: String
  }

  var content: Message

  init(_ found: ModelStream.Message) {
    let lines = found.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
    content = Message(
      subject: found.subject, seq: found.sequence,
      hdrs: found.headers.isEmpty ? nil : Data("NATS/1.0\r\n\(lines)\r\n".utf8), data: Data(found.body),
      time: timeText(found.time))
  }

  enum CodingKeys: String, CodingKey { case content = "message" }
  var message: NATSMessage { json(self) }
}

private struct ErrorAnswer: Encodable {
  struct Failure: Encodable {
    var status: Int
    var code: Int
    var description: String

    enum CodingKeys: String, CodingKey {
      case description
      case status = "code"
      case code = "err_code"
    }
  }

  var error: Failure
}

private func refusal(_ refusal: ModelStream.Refusal) -> NATSMessage {
  json(
    ErrorAnswer(
      error: ErrorAnswer.Failure(status: refusal.status, code: refusal.code, description: refusal.description)))
}

private func json(_ value: any Encodable) -> NATSMessage { NATSMessage(subject: "", body: controlJSON(value)) }

private func decode<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) -> Value? {
  try? decodeJSON(type, from: body)
}

private func status(
  _ status: Int, _ description: String, _ headers: [(name: String, value: String)] = []
) -> NATSMessage {
  NATSMessage(subject: "", headers: [("Status", "\(status)"), ("Description", description)] + headers)
}

/// Returns a time as in RFC 3339. The time of the model begins in 1970.
private func timeText(_ time: Duration) -> String {
  Date(timeIntervalSince1970: Double(time.components.seconds)).formatted(.iso8601)
}
