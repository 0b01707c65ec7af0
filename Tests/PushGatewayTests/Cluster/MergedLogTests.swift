import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The delivery logs of several gateways, merged.
@Suite(.timeLimit(.minutes(5))) struct MergedLogTests {
  private let folder: TemporaryFolder
  private let hub = ClusterHub()

  init() throws { folder = try TemporaryFolder() }

  /// Creates a gateway of the cluster with the given rows in its log.
  private func gateway(_ name: String, _ rows: [DeliveryLog.Row] = []) throws -> (log: DeliveryLog, cluster: HubCluster)
  {
    let log = DeliveryLog(path: folder.file(name), retention: 86_400 * 365 * 100, logger: .silent)
    log.append(rows)
    let cluster = hub.cluster(name)
    try LogAnswers(log, MemoryRegistrations()).join(cluster)
    return (log, cluster)
  }

  private func row(_ time: Int64, _ event: DeliveryEvent = .accepted, id: Int = 1) -> DeliveryLog.Row {
    DeliveryLog.Row(at: time, event: event, id: .number(id), device: 7, app: 3)
  }

  private func times(_ rows: MergedLog.Rows) -> [Int64] { rows.records.map(\.record.row.at) }

  @Test func `rows of all gateways come in the order of time, with their gateways`() async throws {
    let (first, cluster) = try gateway("a", [row(1), row(4), row(5)])
    let (second, _) = try gateway("b", [row(2), row(6)])
    let (third, _) = try gateway("c", [row(3)])
    defer { for log in [first, second, third] { log.close() } }
    let merged = MergedLog(log: first, cluster: cluster, reader: nil, timeout: .seconds(100))
    let rows = try await merged.newest(.init(), before: nil)
    #expect(times(rows) == [1, 2, 3, 4, 5, 6] && rows.unanswered.isEmpty)
    #expect(rows.records.map(\.gateway) == ["a", "b", "c", "a", "a", "b"])
  }

  @Test func `a row that a gateway wrote late has its place by its time`() async throws {
    let (first, cluster) = try gateway("a", [row(8, .transmitted), row(5), row(9)])
    let (second, _) = try gateway("b", [row(6, id: 2), row(7, id: 2)])
    defer { for log in [first, second] { log.close() } }
    let merged = MergedLog(log: first, cluster: cluster, reader: nil, timeout: .seconds(100))
    #expect(times(try await merged.newest(.init(), before: nil)) == [5, 6, 7, 8, 9])
    #expect(times(try await merged.next(.init(), after: nil)) == [5, 6, 7, 8, 9])
  }

  @Test func `pages towards the past and onwards leave nothing out and repeat nothing`() async throws {
    // More rows than one answer of a gateway can have.
    let count = Int64(LogQuestion.maximumLimit) * 2 + 77
    let (first, cluster) = try gateway("a", (0..<count).map { row($0 * 3) })
    let (second, _) = try gateway("b", (0..<count).map { row($0 * 3 + 1) })
    let (third, _) = try gateway("c", (0..<40).map { row($0 * 3 + 2) })
    defer { for log in [first, second, third] { log.close() } }
    let merged = MergedLog(log: first, cluster: cluster, reader: nil, timeout: .seconds(100))
    let most = (0..<count).flatMap { (number: Int64) -> [Int64] in [number * 3, number * 3 + 1] }
    let few = (0..<40).map { (number: Int64) -> Int64 in number * 3 + 2 }
    let all = (most + few).sorted()
    var (read, before): ([Int64], LogPosition?) = ([], nil)
    while true {
      let page = try await merged.newest(.init(limit: 1500), before: before)
      if page.records.isEmpty { break }
      read = times(page) + read
      before = LogPosition(text: page.position.text)
    }
    #expect((read == all) as Bool, "\(read.count) of \(all.count)")
    var after: LogPosition?
    read = []
    while true {
      let page = try await merged.next(.init(limit: 1500), after: after)
      if page.records.isEmpty { break }
      read += times(page)
      after = LogPosition(text: page.position.text)
    }
    #expect((read == all) as Bool, "\(read.count) of \(all.count)")
  }

  /// A gateway that starts logs the answers that are missing in its log, because it may have lost them.
  @Test func `an answer that several gateways have logged is returned once`() async throws {
    let answer = Answer(id: .number(1), person: PersonID(row: 1), action: "approve", device: 7, app: 3, at: 5)
    var other = answer
    (other.device, other.action) = (8, "view")
    let (first, cluster) = try gateway("a", [row(1), answer.row, row(5), row(9)])
    let (second, _) = try gateway("b", [row(5), row(9), answer.row, other.row])
    defer { for log in [first, second] { log.close() } }
    let merged = MergedLog(log: first, cluster: cluster, reader: nil, timeout: .seconds(100))
    for rows in [try await merged.newest(.init(), before: nil), try await merged.next(.init(), after: nil)] {
      let events = rows.records.map(\.record.row.event)
      #expect(events.count { $0 == .action } == 1 && events.count { $0 == .viewed } == 1 && events.count == 7)
    }
  }

  @Test func `a gateway that does not answer is named, and read on where it was when it does`() async throws {
    let (first, cluster) = try gateway("a", [row(1)])
    let (second, other) = try gateway("b", [row(2)])
    defer { for log in [first, second] { log.close() } }
    let merged = MergedLog(log: first, cluster: cluster, reader: nil, timeout: .seconds(100))
    let before = try await merged.next(.init(), after: nil)
    #expect(times(before) == [1, 2])
    second.append([row(3)])
    other.isDeaf.withLock { $0 = true }
    let without = try await merged.next(.init(), after: before.position)
    #expect(without.records.isEmpty && without.unanswered == ["b"])
    #expect(try await merged.newest(.init(), before: nil).unanswered == ["b"])
    other.isDeaf.withLock { $0 = false }
    let after = try await merged.next(.init(), after: without.position)
    #expect(times(after) == [3] && after.unanswered.isEmpty)
  }

  @Test func `what a gateway answers that is none is no answer`() async throws {
    let (log, cluster) = try gateway("a", [row(1)])
    defer { log.close() }
    let merged = MergedLog(log: log, cluster: cluster, reader: nil, timeout: .seconds(100))
    let liar = hub.cluster("b")
    for answer in [[], [9], Array(repeating: 255, count: 40), [0] + Array(repeating: 0, count: 8)] as [[UInt8]] {
      try liar.answer(LogAnswers.name) { _ in answer }
      let rows = try await merged.newest(.init(), before: nil)
      #expect(times(rows) == [1] && rows.unanswered == ["b"], "\(answer)")
      #expect(try await merged.next(.init(), after: nil).unanswered == ["b"], "\(answer)")
    }
  }

  @Test func `questions that are none are answered by nothing`() async throws {
    let (log, cluster) = try gateway("a", [row(1)])
    defer { log.close() }
    let asking = hub.cluster("b")
    for question in ["", "{", "{\"kind\":\"newest\"}", "{\"kind\":\"newest\",\"limit\":1,\"id\":\"x\"}"] {
      let answer = await asking.ask(cluster.gateway, LogAnswers.name, Array(question.utf8), within: .seconds(1))
      #expect(answer == nil, "\(question)")
    }
    let most = #"{"kind":"next","limit":9223372036854775807,"after":-5,"before":-9223372036854775808,"waits":1e300}"#
    let answer = await asking.ask(cluster.gateway, LogAnswers.name, Array(most.utf8), within: .seconds(1))
    #expect(answer.flatMap(LogPassage.init)?.records.isEmpty == true)
  }

  @Test func `a wait ends with a row of another gateway`() async throws {
    let (first, cluster) = try gateway("a", [row(1)])
    let (second, _) = try gateway("b")
    defer { for log in [first, second] { log.close() } }
    // Only the report of the other gateway can end the wait in time.
    let merged = MergedLog(
      log: first, cluster: cluster, reader: nil, timeout: .seconds(100), lookInterval: .seconds(3600))
    let before = try await merged.next(.init(id: .number(1)), after: nil)
    async let awaited = merged.next(
      .init(id: .number(1), events: [.viewed]), after: before.position, within: .seconds(300))
    await eventually { hub.questions == 2 }
    second.append([row(2, .accepted, id: 2), row(3, .viewed)])
    let rows = try #require(try await awaited)
    #expect(times(rows) == [3] && rows.records.map(\.gateway) == ["b"])
  }

  @Test func `rows are announced only while a gateway waits for them`() async throws {
    let (first, _) = try gateway("a")
    let (second, _) = try gateway("b")
    defer { for log in [first, second] { log.close() } }
    second.append([row(1)])
    _ = try await second.rows(.init(limit: 1))
    #expect(hub.messages == 0)
  }

  @Test func `a push is found by the unique id that another gateway gave it`() async throws {
    let (first, cluster) = try gateway("a")
    var accepted = row(1)
    accepted.uniqueID = .number(99)
    let (second, _) = try gateway("b", [accepted])
    defer { for log in [first, second] { log.close() } }
    let found = try await MergedLog(log: first, cluster: cluster, reader: nil, timeout: .seconds(100)).push(
      named: .number(99), atMost: .max)
    #expect(found.found?.id == .number(1) && found.found?.device == 7 && found.unanswered.isEmpty)
  }

  @Test func `what is erased goes from the logs of all gateways`() async throws {
    let (first, cluster) = try gateway("a", [row(1)])
    var other = row(3)
    other.device = 8
    let (second, _) = try gateway("b", [row(2), other])
    defer { for log in [first, second] { log.close() } }
    let merged = MergedLog(log: first, cluster: cluster, reader: nil, timeout: .seconds(100))
    try await merged.erase([7], onlyTexts: false)
    #expect(times(try await merged.newest(.init(), before: nil)) == [3])
    let answer = await hub.cluster("c").ask(cluster.gateway, "log-erase", Array("x".utf8), within: .seconds(1))
    #expect(answer == nil)
  }

  @Test(arguments: ["", "x", "a:", "a:-1", "a:9223372036854775807", ":1", "a:1:2", "a:1,b"])
  func `what is no place is none`(_ text: String) { #expect(LogPosition(text: text) == nil) }
}

/// The connection between the gateways of a test cluster.
final class ClusterHub: Sendable {
  private struct State {
    var clusters: [String: HubCluster] = [:]
    var (questions, messages) = (0, 0)
  }

  private let state = Mutex(State())

  /// The number of questions and of messages.
  var questions: Int { state.withLock(\.questions) }
  var messages: Int { state.withLock(\.messages) }

  func cluster(_ name: String) -> HubCluster {
    let cluster = HubCluster(name, self)
    state.withLock { $0.clusters[name] = cluster }
    return cluster
  }

  fileprivate func others(of name: String) -> [HubCluster] {
    state.withLock { $0.clusters.values.filter { $0.gateway.id != name }.sorted { $0.gateway.id < $1.gateway.id } }
  }

  fileprivate func noteQuestion() { state.withLock { $0.questions += 1 } }
  fileprivate func noteMessage() { state.withLock { $0.messages += 1 } }
}

/// A gateway's interface to a test cluster in memory.
final class HubCluster: Cluster {
  typealias Answer = @Sendable (_ question: [UInt8]) async -> [UInt8]

  let gateway: ClusterMember
  /// True while the gateway answers no questions.
  let isDeaf = Mutex(false)
  private let hub: ClusterHub
  private let answers = Mutex<[String: Answer]>([:])
  private let listeners = Mutex<[String: @Sendable ([UInt8]) -> Void]>([:])

  fileprivate init(_ name: String, _ hub: ClusterHub) {
    gateway = ClusterMember(id: name, process: name, name: name)
    self.hub = hub
  }

  var others: [ClusterMember] { hub.others(of: gateway.id).map(\.gateway) }
  let isNew = false

  func answer(_ name: String, _ body: @escaping Answer) throws { answers.withLock { $0[name] = body } }

  func ask(
    _ gateway: ClusterMember, _ name: String, _ question: [UInt8], within time: Duration
  ) async -> [UInt8]? {
    hub.noteQuestion()
    guard let other = hub.others(of: self.gateway.id).first(where: { $0.gateway == gateway }),
      !other.isDeaf.withLock({ $0 }), let answer = other.answers.withLock({ $0[name] })
    else { return nil }
    let body = await answer(question)
    return body.isEmpty ? nil : body
  }

  func subscribe(_ name: String, _ body: @escaping @Sendable (_ message: [UInt8]) -> Void) throws {
    listeners.withLock { $0[name] = body }
  }

  func publish(_ name: String, _ message: [UInt8]) {
    hub.noteMessage()
    for other in hub.others(of: gateway.id) { other.listeners.withLock { $0[name] }?(message) }
  }

  func join(channels: Channels, liveChannels: LiveChannels, router: any PushRouter, schedule: Schedule) throws {}
  func announce(_ addresses: [String]) {}
  func leave() {}
  func broadcast(_ message: BroadcastMessage) {}
  func publishAuthority(_ folder: StateFolder) async throws {}
  func save(_ store: SQLiteStore, _ folder: StateFolder, to path: String) throws -> Backup.Summary {
    throw StoreError("nothing is saved here")
  }
}
