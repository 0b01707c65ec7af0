import Foundation
import GRDB
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

/// A mailbox that accepts pushes before it has read the stored ones.
@Suite(.timeLimit(.minutes(5))) struct LateMailboxTests {
  let folder: TemporaryFolder
  let clock = TestClock()
  let removals = SQLiteHome.Removals()

  init() throws { folder = try TemporaryFolder() }

  /// Opens the mailbox. It reads the stored pushes when `gate` is signaled.
  private func open(_ gate: DispatchSemaphore? = nil, cap: Int = 10_000) throws -> SQLiteMailbox {
    let (clock, removals) = (clock, removals)
    return try SQLiteMailbox(
      store: try SQLiteStore(path: folder.file("push.sqlite")), cap: cap, logger: .silent, now: { clock.seconds },
      removed: { removals.add($0) }, rowsReadAtOnce: gate == nil ? 1000 : 0, willRead: { gate?.wait() })
  }

  /// Returns a mailbox that has not yet read the given stored pushes, with its gate.
  private func late(
    _ pushes: [StoredPush], cap: Int = 10_000
  ) async throws -> (mailbox: SQLiteMailbox, gate: DispatchSemaphore) {
    let before = try open()
    _ = await before.append(pushes)
    before.close()
    let gate = DispatchSemaphore(value: 0)
    return (try open(gate, cap: cap), gate)
  }

  private func ids(_ mailbox: SQLiteMailbox, _ device: DeviceID = 1) async throws -> [APNSID] {
    let found = try await mailbox.pending(for: device, after: 0, limit: 100)
    #expect(zip(found.entries, found.entries.dropFirst()).allSatisfy { $0.seq < $1.seq })
    return found.entries.map(\.push.id)
  }

  private func numbers(_ range: ClosedRange<Int>) -> [APNSID] { range.map(APNSID.number) }

  private func isDeferred(_ outcome: AppendOutcome?) -> Bool { if case .deferred = outcome { true } else { false } }

  @Test func `what comes while it reads is stored, and read after what waited`() async throws {
    let (mailbox, gate) = try await late([samplePush(1), samplePush(2)])
    let outcomes = await mailbox.append([samplePush(3), samplePush(4, to: 2)])
    #expect(outcomes.allSatisfy(isDeferred))
    async let found = ids(mailbox)
    gate.signal()
    #expect(try await found == numbers(1...3))
    #expect(try await ids(mailbox, 2) == [.number(4)])
    #expect(await mailbox.append([samplePush(5)]).map(\.seq) == [4])
    mailbox.close()
    let again = try open()
    #expect(try await ids(again) == numbers(1...3) + [.number(5)])
    again.close()
  }

  @Test func `a crash while it reads loses nothing of what was answered`() async throws {
    let (mailbox, gate) = try await late([samplePush(1)])
    _ = await mailbox.append([samplePush(2)])
    _ = await mailbox.append([samplePush(3, collapse: "a"), samplePush(4, collapse: "a")])
    let copy = try TemporaryFolder()
    for name in ["push.sqlite", "push.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: folder.file(name), toPath: copy.file(name))
    }
    gate.signal()
    mailbox.close()
    let clock = clock
    // Once with a late read again, and then with a read at once.
    for round in 0..<2 {
      let second = DispatchSemaphore(value: 0)
      let reopened = try SQLiteMailbox(
        store: try SQLiteStore(path: copy.file("push.sqlite")), cap: 100, logger: .silent, now: { clock.seconds },
        removed: { _ in }, rowsReadAtOnce: round == 0 ? 0 : 1000, willRead: { second.wait() })
      if round == 0 { #expect(await reopened.append([samplePush(5)]).allSatisfy(isDeferred)) }
      second.signal()
      #expect(try await ids(reopened) == [.number(1), .number(2), .number(4), .number(5)])
      reopened.close()
    }
  }

  @Test func `a retry of what waits, or of what came meanwhile, is stored once`() async throws {
    let (mailbox, gate) = try await late([samplePush(1)])
    _ = await mailbox.append([samplePush(1), samplePush(2)])
    _ = await mailbox.append([samplePush(2)])
    gate.signal()
    #expect(try await ids(mailbox) == numbers(1...2))
    #expect(await mailbox.append([samplePush(2)]).map(\.isDuplicate) == [true])
    mailbox.close()
    #expect(removals.all.isEmpty)
  }

  @Test func `collapse ids and the cap hold for what comes meanwhile`() async throws {
    let (mailbox, gate) = try await late([samplePush(1, collapse: "a"), samplePush(2), samplePush(3)], cap: 3)
    _ = await mailbox.append([samplePush(4, collapse: "a"), samplePush(5), samplePush(6)])
    gate.signal()
    let found = try await mailbox.pending(for: 1, after: 0, limit: 100)
    #expect(found.entries.map(\.push.id) == numbers(4...6))
    #expect(found.gap?.dropped == 2)
    #expect(removals.all.map(\.cause) == [.collapsed, .overflow, .overflow])
    mailbox.close()
  }

  @Test func `what is asked meanwhile comes about in its order`() async throws {
    let (mailbox, gate) = try await late([samplePush(1), samplePush(2, app: 2), samplePush(3, to: 2)])
    _ = await mailbox.append([samplePush(4)])
    let isPurged = Mutex<Bool?>(nil)
    mailbox.purge([1], app: 1) { isDurable in isPurged.withLock { $0 = isDurable } }
    _ = await mailbox.append([samplePush(5)])
    mailbox.acknowledge(2, through: 1)
    #expect(isPurged.withLock { $0 } == nil)
    gate.signal()
    #expect(try await ids(mailbox) == [.number(2), .number(5)])
    #expect(isPurged.withLock { $0 } == true)
    #expect(try await ids(mailbox, 2) == [])
    mailbox.close()
  }

  @Test func `what waits for a registration that has ended goes before anything is read`() async throws {
    let (mailbox, gate) = try await late([samplePush(1), samplePush(2, app: 2)])
    mailbox.purgeUnregistered { _, app in app == 2 }
    gate.signal()
    #expect(try await ids(mailbox) == [.number(2)])
    mailbox.close()
  }

  @Test func `a mailbox that is closed meanwhile ends with everything in it`() async throws {
    let (mailbox, gate) = try await late([samplePush(1)])
    _ = await mailbox.append([samplePush(2)])
    mailbox.acknowledge(1, through: 1)
    gate.signal()
    mailbox.close()
    let again = try open()
    #expect(try await ids(again) == [.number(2)])
    again.close()
  }

  @Test func `rows that can't be read are told to whoever asks, and nothing more is accepted`() async throws {
    let before = try open()
    _ = await before.append([samplePush(1)])
    before.close()
    let store = try SQLiteStore(path: folder.file("push.sqlite"))
    try await store.pool.write { try $0.execute(sql: "UPDATE mailbox SET device = -5") }
    try store.close()
    let gate = DispatchSemaphore(value: 0)
    let mailbox = try open(gate)
    #expect(await mailbox.append([samplePush(2)]).allSatisfy(isDeferred))
    gate.signal()
    await #expect(throws: StoreError.self) { try await ids(mailbox) }
    guard case .failed? = await mailbox.append([samplePush(3)]).first else {
      Issue.record("what can't be read takes no more")
      return
    }
    #expect(mailbox.problem != nil)
    mailbox.close()
  }
}
