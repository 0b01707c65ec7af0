import Foundation
import NATSClient

/// A stream of ``ModelEngine``. It is a value, so the earlier state of a replica is a copy.
struct ModelStream: Sendable {
  struct Message: Sendable {
    var sequence: UInt64
    var subject: String
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    var time: Duration
    var expires: Duration?

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
  }

  /// An error in the form of JetStream.
  struct Refusal: Error {
    var status: Int
    var code: Int
    var description: String

    static let noMessage = Refusal(status: 404, code: 10037, description: "no message found")
    static let temporary = Refusal(
      status: 503, code: 10008, description: "JetStream system temporarily unavailable")
  }

  struct Stored {
    var sequence: UInt64
    var isDuplicate = false
    /// The number of the previous last message of the subject.
    var previous: UInt64 = 0
  }

  var configuration: StreamConfiguration { didSet { patterns = configuration.subjects.map(SubjectPattern.init) } }
  private var patterns: [SubjectPattern]
  private var messages: [UInt64: Message] = [:]
  /// The numbers of all messages, and of the messages of each subject.
  private var all = NumberLine()
  private var bySubject: [String: NumberLine] = [:]
  private var size = 0
  private(set) var lastSequence: UInt64
  private var known: [String: (sequence: UInt64, time: Duration)] = [:]
  /// The remembered ids, the oldest first, and the index of the first that may still be remembered.
  private var knownOrder: [String] = []
  private var firstKnown = 0
  /// No message expires before this time.
  private var nextEnd: Duration?

  init(_ configuration: StreamConfiguration) {
    self.configuration = configuration
    patterns = configuration.subjects.map(SubjectPattern.init)
    lastSequence = (configuration.firstSequence ?? 1) - 1
  }

  func takes(_ subject: String) -> Bool { patterns.contains { $0.matches(subject) } }

  // MARK: Reading

  func message(_ sequence: UInt64) -> Message? { messages[sequence] }

  func last(of filter: String) -> Message? { numbers(of: filter, from: 0).last.flatMap { messages[$0] } }

  /// Returns the sequence numbers of the messages of a subject, or of all subjects that match a filter.
  func numbers(of filter: String, from sequence: UInt64) -> ArraySlice<UInt64> {
    let pattern = SubjectPattern(filter)
    if pattern.isPlain { return bySubject[filter]?.from(sequence) ?? [] }
    var found: [UInt64] = []
    for (subject, line) in bySubject where pattern.matches(subject) { found += line.from(sequence) }
    return found.sorted()[...]
  }

  // MARK: Storing

  /// - Parameter isForgetful: True for an injected fault: duplicates are stored, because no id is remembered.
  mutating func store(
    _ subject: String, _ headers: [(name: String, value: String)], _ body: [UInt8], now: Duration,
    isForgetful: Bool = false
  ) throws(Refusal) -> Stored {
    func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    let id = value("Nats-Msg-Id")
    let first = isForgetful ? nil : id.flatMap { known[$0] }
    let last = bySubject[subject]?.last ?? 0
    // A single broker compares the sequence before it looks up the id. Several brokers do so in the other order.
    if first == nil || configuration.replicas == 1 {
      try expect(value("Nats-Expected-Last-Sequence"), lastSequence)
      try expect(value("Nats-Expected-Last-Subject-Sequence"), last)
    }
    if let first { return Stored(sequence: first.sequence, isDuplicate: true) }
    if configuration.discard == "new", let most = configuration.maximumMessages, most > 0, messages.count >= most {
      throw Refusal(status: 503, code: 10077, description: "maximum messages exceeded")
    }
    lastSequence += 1
    let life = value("Nats-TTL").flatMap { Int64($0.dropLast()) }
    add(
      Message(
        sequence: lastSequence, subject: subject, headers: headers, body: body, time: now,
        expires: life.map { now + .seconds($0) }))
    if let id { know(id, lastSequence, now) }
    if value("Nats-Rollup") == "sub" { keep(1, of: subject) }
    if value("Nats-Rollup") == "all" { keep(1) }
    limit(subject)
    return Stored(sequence: lastSequence, previous: last)
  }

  private mutating func add(_ message: Message) {
    messages[message.sequence] = message
    all.add(message.sequence)
    bySubject[message.subject, default: NumberLine()].add(message.sequence)
    size += message.body.count
    if let end = end(of: message) { nextEnd = min(nextEnd ?? end, end) }
  }

  private mutating func know(_ id: String, _ sequence: UInt64, _ time: Duration) {
    known[id] = (sequence, time)
    knownOrder.append(id)
  }

  private func expect(_ text: String?, _ found: UInt64) throws(Refusal) {
    guard let text, let expected = UInt64(text), expected != found else { return }
    throw Refusal(status: 400, code: 10071, description: "wrong last sequence: \(found)")
  }

  private mutating func limit(_ subject: String) {
    if let most = configuration.maximumMessagesPerSubject, most > 0 { keep(Int(most), of: subject) }
    if let most = configuration.maximumMessages, most > 0 { keep(Int(most)) }
  }

  private mutating func keep(_ count: Int, of subject: String) {
    while let line = bySubject[subject], line.count > count, let first = line.first { drop(first) }
  }

  private mutating func keep(_ count: Int) {
    while messages.count > count, let first = all.first { drop(first) }
  }

  // MARK: Removing

  mutating func remove(_ sequence: UInt64) throws(Refusal) {
    guard messages[sequence] != nil else {
      throw Refusal(status: 400, code: 10043, description: "sequence \(sequence) not found")
    }
    drop(sequence)
  }

  private mutating func drop(_ sequence: UInt64) {
    guard let message = messages.removeValue(forKey: sequence) else { return }
    all.remove(sequence)
    size -= message.body.count
    bySubject[message.subject]?.remove(sequence)
    if bySubject[message.subject]?.count == 0 { bySubject[message.subject] = nil }
  }

  /// - Returns: The number of removed messages.
  mutating func purge(filter: String?, keep: Int?, below sequence: UInt64?) -> Int {
    var due = numbers(of: filter ?? ">", from: 0)
    if let sequence { due = due.prefix { $0 < sequence } }
    if let keep { due = due.dropLast(keep) }
    for number in due { drop(number) }
    return due.count
  }

  /// Removes expired messages, and forgets ids that are older than the duplicate window.
  mutating func expire(_ now: Duration) {
    if let nextEnd, nextEnd <= now {
      for message in messages.values { if let end = end(of: message), end <= now { drop(message.sequence) } }
      self.nextEnd = messages.values.compactMap { end(of: $0) }.min()
    }
    while firstKnown < knownOrder.count {
      let id = knownOrder[firstKnown]
      if let found = known[id] {
        guard now - found.time >= window else { break }
        known[id] = nil
      }
      firstKnown += 1
    }
    if firstKnown > 1000, firstKnown * 2 > knownOrder.count {
      knownOrder.removeFirst(firstKnown)
      firstKnown = 0
    }
  }

  private func end(of message: Message) -> Duration? {
    let aged = configuration.maximumAge.flatMap { $0 > 0 ? message.time + .nanoseconds($0) : nil }
    guard let aged, let expires = message.expires else { return message.expires ?? aged }
    return min(aged, expires)
  }

  private var window: Duration { configuration.duplicateWindow.map { .nanoseconds($0) } ?? .seconds(120) }

  /// Restarts the broker. It then remembers the ids of stored messages only, not those of removed ones.
  mutating func restart(_ now: Duration) {
    (known, knownOrder, firstKnown) = ([:], [], 0)
    for number in all.from(0) {
      guard let message = messages[number], now - message.time < window else { continue }
      if let id = message.header("Nats-Msg-Id") { know(id, number, message.time) }
    }
  }

  // MARK: Information about a stream

  private struct Info: Encodable {
    struct State: Encodable {
      var messages: Int
      var bytes: Int
      var firstSequence: UInt64
      var lastSequence: UInt64
      var subjects: [String: Int]?

      enum CodingKeys: String, CodingKey {
        case messages, bytes, subjects
        case firstSequence = "first_seq"
        case lastSequence = "last_seq"
      }
    }

    var type = "io.nats.jetstream.api.v1.stream_info_response"
    var config: StreamConfiguration
    var state: State
  }

  /// - Parameter subjects: The filter of the subjects whose message counts are included.
  func info(subjects: String?) -> any Encodable {
    let counted = subjects.map { filter in
      let pattern = SubjectPattern(filter)
      if pattern.isPlain { return bySubject[filter].map { [filter: $0.count] } ?? [:] }
      return bySubject.filter { pattern.matches($0.key) }.mapValues(\.count)
    }
    return Info(
      config: configuration,
      state: Info.State(
        messages: messages.count, bytes: size, firstSequence: all.first ?? lastSequence + 1,
        lastSequence: lastSequence, subjects: counted))
  }
}
