import NATSTesting
import Testing

@testable import NATSClient
@testable import PushCore

/// The behavior of JetStream that the gateway depends on, for real brokers and for their model. Each check begins with
/// an account that has one stream.
struct EngineConformance {
  typealias Check = @Sendable (JetStream) async throws -> Void

  /// All checks by name.
  static let checks: [(name: String, run: Check)] = [
    ("what is published is numbered, and known again by its id", { try await numbering($0) }),
    ("messages are read one by one, and in batches", { try await reading($0) }),
    ("the last messages of many subjects are read at once", { try await readingMany($0) }),
    ("messages are deleted and purged", { try await removing($0) }),
    ("what is stored is published again with the number before it", { try await publishingAgain($0) }),
    ("a stream is made once, and changed", { try await changingStreams($0) }),
    ("an id is known when its message has left", { try await knowingIDs($0) }),
    ("what rolls up replaces its subject", { try await rollingUp($0) }),
    ("a stream begins with its first number", { try await beginning($0) }),
    ("batches have a size", { try await limitingBatches($0) }),
    ("messages that are not stored reach who listens", { try await passing($0) }),
  ]

  /// Runs one check over a connection.
  static func run(_ name: String, on transport: any NATSTransport) async throws {
    let check = try #require(checks.first { $0.name == name }, "there is no such check")
    let stream = JetStream.patient(transport)
    try await stream.requireBroker()
    _ = try await stream.ensureStream(sample())
    try await check.run(stream)
  }

  private static func sample() -> StreamConfiguration {
    var configuration = StreamConfiguration(name: "S", subjects: ["s.*"], replicas: 1)
    configuration.allowsDirect = true
    configuration.allowsTTL = true
    configuration.republish = StreamConfiguration.Republish(source: "s.*", destination: "live.{{wildcard(1)}}")
    return configuration
  }

  private static func numbering(_ stream: JetStream) async throws {
    let id = [(name: "Nats-Msg-Id", value: "1")]
    #expect(try await stream.publish("s.a", headers: id, [1]) == PublishAcknowledgement(stream: "S", sequence: 1))
    #expect(
      try await stream.publish("s.a", headers: id, [1])
        == PublishAcknowledgement(stream: "S", sequence: 1, isDuplicate: true))
    await #expect(throws: JetStreamError.link(.noResponders)) { _ = try await stream.publish("t.a", [1]) }
    do {
      _ = try await stream.publish("s.a", headers: [("Nats-Expected-Last-Subject-Sequence", "7")], [])
      Issue.record("it was stored")
    } catch {
      #expect(error.isConflict)
      #expect("\(error)".contains("wrong last sequence"))
    }
  }

  private static func reading(_ stream: JetStream) async throws {
    for number in UInt8(1)...7 {
      _ = try await stream.publish("s.\(number % 2)", headers: [("Number", "\(number)")], [number])
    }
    for message in [
      try await stream.message("S", sequence: 3), try await stream.leaderMessage("S", sequence: 3),
    ] {
      #expect(message?.sequence == 3)
      #expect(message?.subject == "s.1")
      #expect(message?.body == [3])
      #expect(message?.header("Number") == "3")
    }
    #expect(try await stream.lastMessage("S", subject: "s.0")?.sequence == 6)
    #expect(try await stream.leaderMessage("S", lastOf: "s.0")?.sequence == 6)
    #expect(try await stream.message("S", sequence: 9) == nil)
    #expect(try await stream.leaderMessage("S", lastOf: "s.9") == nil)
    #expect(try await stream.leaderMessage("S", nextOf: "s.0", from: 2)?.sequence == 2)
    #expect(try await stream.leaderMessage("S", nextOf: "s.0", from: 3)?.sequence == 4)
    #expect(try await stream.leaderMessage("S", nextOf: "s.0", from: 7) == nil)
    let first = try await stream.messages("S", subject: "s.1", from: 0, limit: 3)
    #expect(first.messages.map(\.sequence) == [1, 3, 5])
    #expect(first.messages.map { $0.header("Nats-Last-Sequence") } == ["0", "1", "3"])
    #expect(first.remaining == 1)
    let rest = try await stream.messages("S", subject: "s.1", from: 6, limit: 3)
    #expect(rest.messages.map(\.sequence) == [7])
    #expect(rest.remaining == 0)
    #expect(try await stream.messages("S", subject: "s.1", from: 8, limit: 3).messages.isEmpty)
    #expect(try await stream.messages("S", subject: "s.5", from: 0, limit: 3).messages.isEmpty)
  }

  private static func readingMany(_ stream: JetStream) async throws {
    let subjects = (0..<400).map { "s.\($0)" }
    #expect(try await stream.lastMessages("S", subjects: subjects).isEmpty)
    for number in [3, 399, 7, 3, 500] { _ = try await stream.publish("s.\(number)", [UInt8(number % 256)]) }
    #expect(try await stream.lastMessages("S", subjects: subjects).map(\.subject) == ["s.399", "s.7", "s.3"])
    #expect(try await stream.lastMessages("S", subjects: subjects).map(\.sequence) == [2, 3, 4])
    try await stream.purge("S")
    #expect(try await stream.lastMessages("S", subjects: subjects).isEmpty)
  }

  private static func removing(_ stream: JetStream) async throws {
    for number in UInt8(1)...7 { _ = try await stream.publish("s.\(number % 2)", [number]) }
    try await stream.delete("S", sequence: 3)
    do {
      try await stream.delete("S", sequence: 3)
      Issue.record("it was there")
    } catch { #expect(error.isNotFound) }
    try await stream.purge("S", subject: "s.0", keep: 1)
    try await stream.purge("S", subject: "s.1", below: 5)
    let info = try #require(try await stream.streamInfo("S", subjects: ">"))
    #expect(info.state.subjects == ["s.0": 1, "s.1": 2])
    #expect(info.state.lastSequence == 7)
    #expect(info.config.republish?.destination == "live.{{wildcard(1)}}")
    #expect(try await stream.streamInfo("T") == nil)
  }

  private static func publishingAgain(_ stream: JetStream) async throws {
    let messages = AsyncStream<NATSMessage>.makeStream()
    _ = try stream.transport.subscribe("live.a", queue: nil) { messages.continuation.yield($0) }
    _ = try await stream.publish("s.a", [1])
    _ = try await stream.publish("s.b", [2])
    _ = try await stream.publish("s.a", [3])
    try await stream.delete("S", sequence: 3)
    _ = try await stream.publish("s.a", [4])
    var seen: [[String?]] = []
    for await message in messages.stream {
      seen.append([message.header("Nats-Sequence"), message.header("Nats-Last-Sequence")])
      if seen.count == 3 { break }
    }
    #expect(seen == [["1", "0"], ["3", "1"], ["4", "1"]])
  }

  private static func changingStreams(_ stream: JetStream) async throws {
    var changed = sample()
    changed.maximumMessagesPerSubject = 5
    #expect(try await stream.ensureStream(changed).config.maximumMessagesPerSubject == 5)
    for number in UInt8(1)...7 { _ = try await stream.publish("s.a", [number]) }
    #expect(
      try await stream.messages("S", subject: "s.a", from: 0, limit: 9).messages.map(\.sequence) == [3, 4, 5, 6, 7])
    try await stream.deleteStream("S")
    #expect(try await stream.streamInfo("S") == nil)
  }

  private static func knowingIDs(_ stream: JetStream) async throws {
    let id = [(name: "Nats-Msg-Id", value: "1")]
    _ = try await stream.publish("s.a", headers: id, [1])
    try await stream.delete("S", sequence: 1)
    #expect(
      try await stream.publish("s.b", headers: id, [1])
        == PublishAcknowledgement(stream: "S", sequence: 1, isDuplicate: true))
    // A single broker compares the sequence before it looks up the id. Several brokers do so in the other order.
    for header in ["Nats-Expected-Last-Sequence", "Nats-Expected-Last-Subject-Sequence"] {
      do {
        _ = try await stream.publish("s.a", headers: id + [(name: header, value: "9")], [])
        Issue.record("nothing was compared")
      } catch { #expect(error.isConflict) }
    }
  }

  private static func rollingUp(_ stream: JetStream) async throws {
    var allowing = sample()
    allowing.allowsRollup = true
    _ = try await stream.ensureStream(allowing)
    for number in UInt8(1)...3 { _ = try await stream.publish("s.a", [number]) }
    _ = try await stream.publish("s.b", [4])
    let headers = [(name: "Nats-Rollup", value: "sub"), ("Nats-Expected-Last-Subject-Sequence", "3")]
    #expect(try await stream.publish("s.a", headers: headers, [5]).sequence == 5)
    #expect(try await stream.streamInfo("S", subjects: ">")?.state.subjects == ["s.a": 1, "s.b": 1])
    // The expected number refers to the subject, or to the stream.
    for header in ["Nats-Expected-Last-Subject-Sequence", "Nats-Expected-Last-Sequence"] {
      do {
        _ = try await stream.publish("s.a", headers: [(header, "4")], [])
        Issue.record("it was stored")
      } catch { #expect(error.isConflict) }
    }
    #expect(try await stream.publish("s.a", headers: [("Nats-Expected-Last-Sequence", "5")], []).sequence == 6)
  }

  private static func beginning(_ stream: JetStream) async throws {
    var other = StreamConfiguration(name: "T", subjects: ["t.>"], replicas: 1)
    other.firstSequence = 1000
    other.maximumMessages = 2
    other.discard = "old"
    #expect(try await stream.ensureStream(other).state.lastSequence == 999)
    for number in UInt64(1000)...1003 {
      #expect(try await stream.publish("t.a.b", [1]).sequence == number)
    }
    let info = try #require(try await stream.streamInfo("T"))
    #expect(info.state.messages == 2)
    #expect(info.state.firstSequence == 1002)
    #expect(info.config.firstSequence == 1000)
    try await stream.purge("T")
    #expect(try await stream.streamInfo("T")?.state.lastSequence == 1003)
  }

  private static func limitingBatches(_ stream: JetStream) async throws {
    for _ in 0..<10 { _ = try await stream.publish("s.a", Array(repeating: 7, count: 1000)) }
    let some = try await stream.messages("S", subject: "s.*", from: 0, limit: 100, maximumSize: 3000)
    #expect((1...4).contains(some.messages.count))
    #expect(some.remaining == 10 - UInt64(some.messages.count))
    let rest = try await stream.messages("S", subject: "s.*", from: UInt64(some.messages.count) + 1, limit: 100)
    #expect(rest.messages.count == 10 - some.messages.count)
  }

  private static func passing(_ stream: JetStream) async throws {
    let transport = stream.transport
    let echo = try transport.subscribe("echo.*", queue: "one") { message in
      guard let reply = message.reply else { return }
      transport.publish(reply, headers: message.headers, message.body)
    }
    let answer = try await transport.request("echo.a", headers: [("A", "b"), ("C", "")], [1], timeout: .seconds(120))
    #expect(answer.body == [1])
    #expect(answer.header("A") == "b")
    #expect(answer.header("C") == nil)
    echo()
    await #expect(throws: NATSError.noResponders) {
      _ = try await transport.request("echo.a", [], timeout: .seconds(120))
    }
  }
}
