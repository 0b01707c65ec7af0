import Foundation
import NATSClient

/// A stream of ``ModelEngine``: a value, so that what a replica had a moment ago is a copy.
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

  /// An error as JetStream says it.
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
    /// The number of the message that was the last of the subject before.
    var previous: UInt64 = 0
  }

  var configuration: StreamConfiguration
  /// By their numbers.
  private(set) var messages: [Message] = []
  private(set) var lastSequence: UInt64
  private var known: [String: (sequence: UInt64, time: Duration)] = [:]

  init(_ configuration: StreamConfiguration) {
    self.configuration = configuration
    lastSequence = (configuration.firstSequence ?? 1) - 1
  }

  func takes(_ subject: String) -> Bool { configuration.subjects.contains { SubjectPattern($0).matches(subject) } }

  // MARK: Reading

  func message(_ sequence: UInt64) -> Message? {
    let index = index(atLeast: sequence)
    return index < messages.count && messages[index].sequence == sequence ? messages[index] : nil
  }

  /// - Parameter filter: a subject, or one with wildcards.
  func last(of filter: String) -> Message? {
    guard filter.contains(where: { $0 == "*" || $0 == ">" }) else { return messages.last { $0.subject == filter } }
    let pattern = SubjectPattern(filter)
    return messages.last { pattern.matches($0.subject) }
  }

  func messages(of filter: String, from sequence: UInt64) -> [Message] {
    let pattern = SubjectPattern(filter)
    return messages[index(atLeast: sequence)...].filter { pattern.matches($0.subject) }
  }

  private func index(atLeast sequence: UInt64) -> Int {
    var (low, high) = (0, messages.count)
    while low < high {
      let middle = (low + high) / 2
      if messages[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: Storing

  /// - Parameter isForgetful: a fault that is planted: no message is known by its id.
  mutating func store(
    _ subject: String, _ headers: [(name: String, value: String)], _ body: [UInt8], now: Duration,
    isForgetful: Bool = false
  ) throws(Refusal) -> Stored {
    func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    let id = value("Nats-Msg-Id")
    let first = isForgetful ? nil : id.flatMap { known[$0] }
    let last = last(of: subject)?.sequence ?? 0
    // A broker that is alone compares before it looks for the id; several do it the other way round.
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
    messages.append(
      Message(
        sequence: lastSequence, subject: subject, headers: headers, body: body, time: now,
        expires: life.map { now + .seconds($0) }))
    if let id { known[id] = (lastSequence, now) }
    if value("Nats-Rollup") == "sub" { keep(1, of: subject) }
    if value("Nats-Rollup") == "all" { messages = messages.suffix(1) }
    limit(subject)
    return Stored(sequence: lastSequence, previous: last)
  }

  private func expect(_ text: String?, _ found: UInt64) throws(Refusal) {
    guard let text, let expected = UInt64(text), expected != found else { return }
    throw Refusal(status: 400, code: 10071, description: "wrong last sequence: \(found)")
  }

  private mutating func limit(_ subject: String) {
    if let most = configuration.maximumMessagesPerSubject, most > 0 { keep(Int(most), of: subject) }
    if let most = configuration.maximumMessages, most > 0, messages.count > most {
      messages = messages.suffix(Int(most))
    }
  }

  private mutating func keep(_ count: Int, of subject: String) {
    let all = messages.lazy.filter { $0.subject == subject }.map(\.sequence)
    let left = Set(all.dropLast(count))
    if !left.isEmpty { messages.removeAll { left.contains($0.sequence) } }
  }

  // MARK: Removing

  mutating func remove(_ sequence: UInt64) throws(Refusal) {
    let index = index(atLeast: sequence)
    guard index < messages.count, messages[index].sequence == sequence else {
      throw Refusal(status: 400, code: 10043, description: "sequence \(sequence) not found")
    }
    messages.remove(at: index)
  }

  /// - Returns: how many went.
  mutating func purge(filter: String?, keep: Int?, below sequence: UInt64?) -> Int {
    let pattern = SubjectPattern(filter ?? ">")
    var due = messages.filter { pattern.matches($0.subject) }.map(\.sequence)
    if let sequence { due.removeAll { $0 >= sequence } }
    if let keep { due = Array(due.dropLast(keep)) }
    let left = Set(due)
    messages.removeAll { left.contains($0.sequence) }
    return left.count
  }

  /// What has come to its end goes, and ids beyond the window are forgotten.
  mutating func expire(_ now: Duration) {
    let age: Duration = configuration.maximumAge.map { Duration.nanoseconds($0) } ?? .zero
    let window = window
    let staying = messages.filter { message in !ModelStream.isOver(message, now, age) }
    if staying.count < messages.count { messages = staying }
    if known.contains(where: { now - $0.value.time >= window }) {
      known = known.filter { now - $0.value.time < window }
    }
  }

  private static func isOver(_ message: Message, _ now: Duration, _ age: Duration) -> Bool {
    if let expires = message.expires, expires <= now { return true }
    return age > .zero && now - message.time >= age
  }

  private var window: Duration { configuration.duplicateWindow.map { .nanoseconds($0) } ?? .seconds(120) }

  /// A broker that starts knows the ids of what is stored, and of nothing that has left.
  mutating func restart(_ now: Duration) {
    known = [:]
    for message in messages where now - message.time < window {
      if let id = message.header("Nats-Msg-Id") { known[id] = (message.sequence, message.time) }
    }
  }

  // MARK: What is said of it

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

  /// - Parameter subjects: of what the counts are told.
  func info(subjects: String?) -> any Encodable {
    let counted = subjects.map { filter in
      Dictionary(grouping: messages(of: filter, from: 0), by: \.subject).mapValues(\.count)
    }
    return Info(
      config: configuration,
      state: Info.State(
        messages: messages.count, bytes: messages.reduce(0) { $0 + $1.body.count },
        firstSequence: messages.first?.sequence ?? lastSequence + 1, lastSequence: lastSequence, subjects: counted))
  }
}
