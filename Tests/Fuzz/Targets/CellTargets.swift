import Foundation
import Logging

@testable import NATSClient
@testable import PushCluster
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

// Messages that a gateway of a cluster reads from other gateways and from brokers. An input consists of messages
// (`ScriptedTransport`).

private let device = DeviceID(row: 1)

extension FuzzTarget {
  /// Answers of JetStream.
  static let brokerAnswer = FuzzTarget("broker-answer", maximumSize: 600) {
    { bytes in
      let messages = ScriptedTransport.messages(bytes)
      for message in messages { readAnswer(message) }
      try? SerialTasks.finish {
        let engine = JetStream(ScriptedTransport(messages))
        let page = try await engine.messages("S", subject: "s", from: 1, limit: 10)
        precondition(page.messages.count < messages.count, "a page has an end")
        _ = try await engine.leaderMessage("S", lastOf: "s")
        _ = try await engine.streamInfo("S")
      }
    }
  }

  private static func readAnswer(_ message: NATSMessage) {
    if let stored = try? JetStreamReplies.acknowledgement(message) {
      precondition(stored.sequence > 0, "a message has a number")
    }
    _ = try? JetStreamReplies.check(message)
    _ = try? JetStreamReplies.value(StreamInfo.self, message)
    _ = try? JetStreamReplies.direct(message)
    _ = try? JetStreamReplies.stored(message)
    _ = JetStreamReplies.headers(Data(message.body))
  }

  /// Messages of a mailbox, both announced and read, and their acknowledgements by devices.
  static let cellMailbox = FuzzTarget("cell-mailbox", maximumSize: 900) {
    { bytes in
      let messages = ScriptedTransport.messages(bytes)
      for message in messages {
        guard let push = PushHeaders.read(message.headers, message.body, of: device) else { continue }
        let again = PushHeaders.read(PushHeaders.write(push, now: push.expires), push.payload, of: device)
        precondition(
          again?.id == push.id && again?.expires == push.expires && again?.collapseID == push.collapseID,
          "what is read can be written")
      }
      try? SerialTasks.finish { try await readMailbox(messages) }
    }
  }

  private static func readMailbox(_ messages: [NATSMessage]) async throws {
    let mailbox = JetStreamMailbox(
      JetStream(ScriptedTransport(messages)), partitions: 1, replicas: 1, cap: 2,
      logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }, now: { 1_700_000_000 }, removed: { _ in },
      environment: {
        // The ids of delivered pushes are written one second later. Here that never happens, because the brokers may
        // refuse the write each time.
        var environment = MailboxEnvironment(after: { delay, body in if delay < .seconds(1) { body() } })
        environment.timeout = .zero
        return environment
      }())
    for message in messages.prefix(2) {
      mailbox.take(left: message.body)
      if let entry = mailbox.entry(live: message, of: device) { mailbox.acknowledge(device, through: entry.seq) }
    }
    for _ in 0..<3 {
      guard let found = try? await mailbox.pending(for: device, after: 0, limit: 3) else { continue }
      precondition(found.entries.map(\.seq) == found.entries.map(\.seq).sorted(), "the oldest comes first")
      if let last = found.entries.last { mailbox.acknowledge(device, through: last.seq) }
    }
  }

  /// Entries of the cluster's log that are applied to a replica.
  static let cellLog = FuzzTarget("cell-log", maximumSize: 600) {
    let database = try DamagedDatabase()
    return { bytes in
      var parts = Chunks()
      for message in ScriptedTransport.messages(bytes) {
        guard let entry = parts.add(message.body, message.header(Chunks.header)),
          let changes = try? ChangeSet(encoded: entry)
        else { continue }
        if let again = try? ChangeSet(encoded: changes.encoded()) {
          precondition(again == changes, "what is read can be written")
        }
        try? database.apply(changes.changes)
      }
    }
  }

  /// Announcements and answers of other gateways.
  static let cellPeers = FuzzTarget("cell-peers", maximumSize: 400) {
    { bytes in
      let transport = ScriptedTransport([])
      let peers = Membership(transport, own: .init(id: "own", addresses: ["own:1"], version: "", schema: 1))
      try? peers.subscribe("gateways") { _ in }
      defer { peers.stop() }
      try? peers.start()
      for message in ScriptedTransport.messages(bytes) {
        transport.deliver(message)
        _ = EphemeralMessages.push(of: message, to: device)
        _ = EphemeralMessages.broadcast(of: message)
        for header in message.headers {
          guard let notice = ClusterNotice(header: header.value) else { continue }
          precondition(ClusterNotice(header: notice.header) == notice, "what is read can be written")
        }
        _ = try? decodeJSON(LogQuestion.self, from: message.body).query { _ in .all }
      }
      precondition(peers.others.count <= 64, "each message is of one gateway")
      readPassage(bytes)
    }
  }

  private static func readPassage(_ bytes: [UInt8]) {
    guard let passage = LogPassage(bytes) else { return }
    let again = LogPassage(passage.encoded(.newest, maximumSize: .max))
    precondition(again?.records.count == passage.records.count, "what is read can be written")
  }

  /// A snapshot of the shared data of a cluster, and the identity of the cluster.
  static let cellSnapshot = FuzzTarget("cell-snapshot", maximumSize: 600) {
    let folder = try FuzzFolder()
    let path = folder.file("replica.sqlite")
    return { bytes in
      let engine = JetStream(ScriptedTransport(ScriptedTransport.messages(bytes)))
      try? SerialTasks.finish {
        try await ClusterSnapshots(engine).read(to: path)
        try FileManager.default.removeItem(atPath: path)
      }
      let other = JetStream(ScriptedTransport(ScriptedTransport.messages(bytes)))
      try? SerialTasks.finish {
        let cluster = try await ClusterIdentity.find(other, partitions: 1, replicas: 1)
        precondition(ClusterIdentity.partitionRange.contains(cluster.partitions), "a cell has some streams")
      }
    }
  }
}
