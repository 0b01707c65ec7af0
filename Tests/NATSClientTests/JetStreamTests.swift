import NATSTesting
import PushTesting
import Testing

@testable import NATSClient
@testable import PushCore

@Suite(.timeLimit(.minutes(5)), .enabled(if: BrokerCluster.isAvailable, "no nats-server found: set NATS_SERVER"))
struct JetStreamTests {
  private func sample() -> StreamConfiguration {
    var configuration = StreamConfiguration(name: "S", subjects: ["s.*"], replicas: 1)
    configuration.allowsDirect = true
    configuration.allowsTTL = true
    configuration.republish = StreamConfiguration.Republish(source: "s.*", destination: "live.{{wildcard(1)}}")
    return configuration
  }

  private func withStream(_ body: (JetStream) async throws -> Void) async throws {
    let broker = try BrokerCluster()
    let connection = try await NATSConnection.connect(broker.options)
    defer { connection.close() }
    let stream = JetStream(connection)
    try await stream.requireBroker()
    _ = try await stream.ensureStream(sample())
    try await body(stream)
  }

  @Test func `what is published is numbered, and known again by its id`() async throws {
    try await withStream { stream in
      let id = [(name: "Nats-Msg-Id", value: "1")]
      #expect(try await stream.publish("s.a", headers: id, [1]) == PublishAcknowledgement(stream: "S", sequence: 1))
      #expect(
        try await stream.publish("s.a", headers: id, [1])
          == PublishAcknowledgement(stream: "S", sequence: 1, isDuplicate: true))
      await #expect(throws: JetStreamError.link(.noResponders)) { _ = try await stream.publish("t.a", [1]) }
      do {
        _ = try await stream.publish("s.a", headers: [("Nats-Expected-Last-Subject-Sequence", "7")], [])
        Issue.record("it was stored")
      } catch let error as JetStreamError {
        #expect(error.isConflict)
        #expect("\(error)".contains("wrong last sequence"))
      }
    }
  }

  @Test func `messages are read one by one, and in batches`() async throws {
    try await withStream { stream in
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
  }

  @Test func `messages are deleted and purged`() async throws {
    try await withStream { stream in
      for number in UInt8(1)...7 { _ = try await stream.publish("s.\(number % 2)", [number]) }
      try await stream.delete("S", sequence: 3)
      do {
        try await stream.delete("S", sequence: 3)
        Issue.record("it was there")
      } catch let error as JetStreamError { #expect(error.isNotFound) }
      try await stream.purge("S", subject: "s.0", keep: 1)
      try await stream.purge("S", subject: "s.1", below: 5)
      let info = try #require(try await stream.streamInfo("S", subjects: ">"))
      #expect(info.state.subjects == ["s.0": 1, "s.1": 2])
      #expect(info.state.lastSequence == 7)
      #expect(info.config.republish?.destination == "live.{{wildcard(1)}}")
      #expect(try await stream.streamInfo("T") == nil)
    }
  }

  @Test func `what is stored is published again with the number before it`() async throws {
    try await withStream { stream in
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
  }

  @Test func `a stream is made once, and changed`() async throws {
    try await withStream { stream in
      var changed = sample()
      changed.maximumMessagesPerSubject = 5
      #expect(try await stream.ensureStream(changed).config.maximumMessagesPerSubject == 5)
      for number in UInt8(1)...7 { _ = try await stream.publish("s.a", [number]) }
      #expect(
        try await stream.messages("S", subject: "s.a", from: 0, limit: 9).messages.map(\.sequence) == [3, 4, 5, 6, 7])
      try await stream.deleteStream("S")
      #expect(try await stream.streamInfo("S") == nil)
    }
  }
}
