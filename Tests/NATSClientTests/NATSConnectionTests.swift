import NATSTesting
import PushTesting
import Synchronization
import Testing

@testable import NATSClient
@testable import PushCore

@Suite(.timeLimit(.minutes(5)), .enabled(if: BrokerCluster.isAvailable, "no nats-server found: set NATS_SERVER"))
struct NATSConnectionTests {
  /// Answers each message with its own headers and body.
  private func echo(_ connection: NATSConnection, _ subject: String) throws {
    _ = try connection.subscribe(subject, queue: nil) { message in
      guard let reply = message.reply else { return }
      connection.publish(reply, reply: nil, headers: message.headers, message.body)
    }
  }

  @Test func `answers come to whoever asked`() async throws {
    let broker = try await BrokerCluster.account()
    let (one, other) = (
      try await NATSConnection.connect(broker), try await NATSConnection.connect(broker)
    )
    defer {
      one.close()
      other.close()
    }
    try echo(one, "echo.*")
    _ = try await one.request("echo.ready", [], timeout: .seconds(120))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<500 {
        group.addTask {
          let body = Array("number \(number)".utf8)
          let answer = try await other.request(
            "echo.\(number)", headers: [("Number", "\(number)"), ("Empty", "")], body, timeout: .seconds(120))
          #expect(answer.body == body)
          #expect(answer.header("Number") == "\(number)")
          #expect(answer.header("Empty") == nil)
          #expect(answer.header("number") == nil)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `a request that nobody answers ends`() async throws {
    let broker = try await BrokerCluster.account()
    let connection = try await NATSConnection.connect(broker)
    await #expect(throws: NATSError.noResponders) {
      _ = try await connection.request("nobody", [], timeout: .seconds(120))
    }
    let silent = try connection.subscribe("silent", queue: nil) { _ in }
    await #expect(throws: NATSError.timedOut) {
      _ = try await connection.request("silent", [], timeout: .milliseconds(60))
    }
    silent()
    await #expect(throws: NATSError.noResponders) {
      _ = try await connection.request("silent", [], timeout: .seconds(120))
    }
    #expect(throws: NATSError.refused("invalid subject a..b")) { try connection.subscribe("a..b", queue: nil) { _ in } }
    connection.close()
    await #expect(throws: NATSError.closed) { _ = try await connection.request("nobody", [], timeout: .seconds(120)) }
  }

  @Test func `messages of a subscription come in order, each once in a queue`() async throws {
    let broker = try await BrokerCluster.account()
    let connection = try await NATSConnection.connect(broker)
    defer { connection.close() }
    let seen = Mutex<[[UInt8]]>([[], []])
    let end = AsyncStream<Void>.makeStream()
    for member in 0..<2 {
      _ = try connection.subscribe("work", queue: "members") { message in
        let count = seen.withLock { seen in
          seen[member].append(message.body[0])
          return seen[0].count + seen[1].count
        }
        if count == 200 { end.continuation.finish() }
      }
    }
    for number in UInt8(0)..<200 { connection.publish("work", [number]) }
    for await _ in end.stream {}
    let all = seen.withLock { $0 }
    #expect(all.joined().sorted() == Array(0..<200))
    for one in all { #expect(one == one.sorted()) }
  }

  @Test func `a connection that loses its broker goes on with another`() async throws {
    let broker = try await BrokerCluster.start()
    let connection = try await NATSConnection.connect(broker.options)
    defer { connection.close() }
    try echo(connection, "echo")
    let states = AsyncStream<LinkState>.makeStream()
    connection.onLink { states.continuation.yield($0) }
    var changes = states.stream.makeAsyncIterator()
    #expect(connection.link.isConnected)
    await broker.kill(0)
    #expect(await changes.next() == .disconnected)
    #expect(!connection.link.isConnected)
    await #expect(throws: NATSError.disconnected) {
      _ = try await connection.request("echo", [], timeout: .seconds(120))
    }
    try await broker.start(0)
    #expect(await changes.next() == .reconnected(server: broker.addresses[0]))
    #expect(try await connection.request("echo", [7], timeout: .seconds(120)).body == [7])
  }

  @Test func `a connection leaves its broker when it is asked to`() async throws {
    let brokers = try await BrokerCluster.start(count: 2)
    let connection = try await NATSConnection.connect(brokers.options)
    defer { connection.close() }
    try echo(connection, "echo")
    guard case .connected(let first) = connection.link else {
      Issue.record("not connected")
      return
    }
    let states = AsyncStream<LinkState>.makeStream()
    connection.onLink { states.continuation.yield($0) }
    connection.reconnect()
    var changes = states.stream.makeAsyncIterator()
    #expect(await changes.next() == .disconnected)
    let second = try #require(brokers.addresses.first { $0 != first })
    #expect(await changes.next() == .reconnected(server: second))
    #expect(try await connection.request("echo", [7], timeout: .seconds(120)).body == [7])
  }

  @Test func `no broker is an error in a line`() async throws {
    let broker = try await BrokerCluster.start()
    let options = broker.options
    await broker.kill(0)
    await #expect(throws: NATSError.disconnected) { _ = try await NATSConnection.connect(options) }
    var wrong = options
    wrong.authority = "/nowhere.pem"
    await #expect {
      _ = try await NATSConnection.connect(wrong)
    } throws: {
      "\($0)".contains("/nowhere.pem") && !"\($0)".contains("\n")
    }
  }
}
