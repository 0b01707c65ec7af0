import Foundation
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

/// The durability guarantees apart from the mailbox, on real SQLite over a disk that loses and tears unsynced writes:
/// answers, unregistrations, administrators' requests, and stored broadcasts.
///
/// In the suite of the mailbox, because only one such disk can exist at a time.
extension PowerLossTests {
  /// The kind of a guarantee.
  enum Kind: CaseIterable, Sendable { case answer, purge, audit, broadcast }

  /// The confirmed operations at some moment.
  struct Promised: Sendable {
    /// The answer that counts, by push.
    var answers: [APNSID: String] = [:]
    var purged: Set<APNSID> = []
    var audited: Set<Int64> = []
    /// The last broadcast that was handed to devices, with its number.
    var broadcast: BroadcastMessage?
  }

  struct PromiseImage: Sendable {
    var files: [String: [UInt8]]
    var known: Promised
  }

  @Test func `nothing that was promised is lost when the machine stops between any two writes`() async throws {
    var images = 0
    for seed in Self.seeds {
      for (number, image) in try await Self.run(seed: seed, early: nil).enumerated() {
        images += 1
        let broken = try await Self.broken(image)
        #expect(broken.isEmpty, "seed \(seed), stop \(number): \(broken)")
      }
    }
    #expect(images > 10 * Self.seeds.count)
  }

  /// The tests detect a confirmation that is sent before the data is on the disk.
  @Test(arguments: Kind.allCases)
  func `a promise that comes too early is found out`(_ early: Kind) async throws {
    var found: Set<Kind> = []
    for seed in UInt64(1)...4 where found.isEmpty {
      for image in try await Self.run(seed: seed, early: early) { found.formUnion(try await Self.broken(image)) }
    }
    #expect(found == [early])
  }

  /// Runs random answers, purges, requests and broadcasts. Returns images of the disk at many moments.
  ///
  /// - Parameter early: The kind that is confirmed before it is done.
  private static func run(seed: UInt64, early: Kind?) async throws -> [PromiseImage] {
    let (temporary, clock) = (try TemporaryFolder(), TestClock())
    let channel = try await channel(in: temporary.file("push.sqlite"))
    let known = Mutex(Promised())
    let images = Mutex<[PromiseImage]>([])
    let disk = try FaultyDisk(folder: temporary.path, seed: seed, operations: 9) { files in
      let known = known.withLock { $0 }
      images.withLock { $0.append(PromiseImage(files: files, known: known)) }
    }
    defer { disk.release() }
    let store = try SQLiteStore(path: temporary.file("push.sqlite"))
    let (answers, audit) = (Answers(store: store), AuditTrail(store: store, logger: .silent))
    let channels = try PushStorage.Channels(store: store, logger: .silent)
    let mailbox = try SQLiteMailbox(
      store: store, cap: 10_000, logger: .silent, now: { clock.seconds }, removed: { _ in })
    defer { mailbox.close() }
    var random = SplitMix64(state: seed &+ 1000)
    for number in 1...20 * Kind.allCases.count {
      if Int.random(in: 0..<8, using: &random) == 0 { disk.fail(Int.random(in: 1...4, using: &random)) }
      switch Kind.allCases[number % Kind.allCases.count] {
      case .answer:
        let answer = Answer(
          id: .number(Int.random(in: 1...20, using: &random)), person: PersonID(row: 1), action: "a\(number)",
          device: 1,
          app: 1, at: clock.seconds * 1000)
        if early == .answer { known.withLock { $0.answers[answer.id] = $0.answers[answer.id] ?? answer.action } }
        await withCheckedContinuation { done in
          answers.take(answer) { outcome in
            if let taken = try? outcome.get() { known.withLock { $0.answers[answer.id] = taken.counting.action } }
            done.resume()
          }
        }
      case .purge:
        let pushes = (0..<5).map { samplePush(1000 * number + $0) }
        _ = await mailbox.append(pushes)
        if early == .purge { known.withLock { $0.purged.formUnion(pushes.map(\.id)) } }
        let isPurged = (try? await mailbox.purge([1], app: 1)) != nil
        if isPurged { known.withLock { $0.purged.formUnion(pushes.map(\.id)) } }
      case .audit:
        let next = known.withLock { ($0.audited.max() ?? 0) + 1 }
        if early == .audit { known.withLock { _ = $0.audited.insert(next) } }
        let written = try? await audit.record(
          "POST", "/admin/v1/apps", body: [1, 2], by: nil, at: clock.seconds * 1000)
        if let written { known.withLock { _ = $0.audited.insert(written) } }
      case .broadcast:
        let message = message(number, in: channel, at: clock)
        if early == .broadcast {
          known.withLock { $0.broadcast = message.numbered(($0.broadcast?.number ?? 0) + 1) }
        }
        try? await channels.publish(message) { stored in known.withLock { $0.broadcast = stored } }
      }
    }
    return images.withLock { $0 }
  }

  @Test func `a change whose commit fails has no effect at the next commit`() async throws {
    let (temporary, clock) = (try TemporaryFolder(), TestClock())
    let channel = try await Self.channel(in: temporary.file("push.sqlite"))
    let disk = try FaultyDisk(folder: temporary.path, seed: 1, operations: 1_000_000) { _ in }
    defer { disk.release() }
    let store = try SQLiteStore(path: temporary.file("push.sqlite"))
    let channels = try PushStorage.Channels(store: store, logger: .silent)
    let published = Mutex<[Int]>([])
    for number in 1...2 {
      disk.fail(number == 1 ? 1 : 0)
      try? await channels.publish(Self.message(number, in: channel, at: clock)) { _ in
        published.withLock { $0.append(number) }
      }
    }
    #expect(published.withLock { $0 } == [2])
    #expect(channels.channel(channel)?.lastNumber == 1)
  }

  private static func message(_ number: Int, in channel: ChannelID, at clock: TestClock) -> BroadcastMessage {
    BroadcastMessage(
      channel: channel, app: 1, number: 0, id: .number(number), uniqueID: .number(number),
      received: clock.seconds * 1000, expires: clock.seconds + 3600, priority: 10,
      payload: Array(#"{"n":\#(number)}"#.utf8))
  }

  /// Creates a database with a channel, and closes it.
  private static func channel(in path: String) async throws -> ChannelID {
    let store = try SQLiteStore(path: path)
    let app = try await SQLiteRegistrations(store: store)
      .putApp(topic: "a.b", name: "News", icon: "N", policyMode: .enforce).id
    let channels = try PushStorage.Channels(store: store, logger: .silent)
    let made = try await channels.create(app: app, environment: .development, policy: .mostRecentMessage, now: 0)
    try store.close()
    return try #require(made.first)
  }

  /// Starts with an image and returns the kinds of violated guarantees.
  private static func broken(_ image: PromiseImage) async throws -> Set<Kind> {
    let temporary = try TemporaryFolder()
    for (name, bytes) in image.files { _ = try temporary.write(bytes, name) }
    let home = try SQLiteHome(folder: temporary)
    defer { home.mailbox.close() }
    var broken: Set<Kind> = []
    let kept = try await Answers(store: home.store).answers(since: 0)
    let counting = Dictionary(uniqueKeysWithValues: kept.map { ($0.id, $0.action) })
    if image.known.answers.contains(where: { counting[$0.key] != $0.value }) { broken.insert(.answer) }
    let waiting = try await home.mailbox.pending(for: 1, after: 0, limit: .max).entries.map(\.push.id)
    if waiting.contains(where: image.known.purged.contains) { broken.insert(.purge) }
    let records = try await AuditTrail(store: home.store, logger: .silent).records(before: nil, limit: 1000)
    if !image.known.audited.isSubset(of: records.map(\.number)) { broken.insert(.audit) }
    if let promised = image.known.broadcast {
      // The message is still there, or a later one has replaced it: its number is not given out again.
      let found = try PushStorage.Channels(store: home.store, logger: .silent).channel(promised.channel)
      let isKept = found?.message.map { $0.number > promised.number || $0.payload == promised.payload } ?? false
      if !isKept || found?.lastNumber ?? 0 < promised.number { broken.insert(.broadcast) }
    }
    return broken
  }
}
