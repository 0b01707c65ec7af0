import Foundation
import GRDB
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

/// The mailbox on real SQLite over a disk that loses and tears unsynced writes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PowerLossTests {
  /// The state that the sender and the device know at some moment.
  struct Known: Sendable {
    /// The accepted pushes, which were answered with 200.
    var accepted: [StoredPush] = []
    var numbers: [RecentIDs.Key: UInt64] = [:]
    /// The submitted pushes, with any outcome.
    var submitted: [RecentIDs.Key: StoredPush] = [:]
    var acknowledged: [DeviceID: UInt64] = [:]
  }

  struct Image: Sendable {
    var files: [String: [UInt8]]
    var known: Known
  }

  /// The seeds of the run. `PUSHGATEWAY_SEED=7` runs that seed alone; `PUSHGATEWAY_SEEDS` runs a thousandth of that
  /// number.
  static var seeds: [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["PUSHGATEWAY_SEED"].flatMap(UInt64.init) { return [seed] }
    return Array(1...max(2, (environment["PUSHGATEWAY_SEEDS"].flatMap(UInt64.init) ?? 0) / 1000))
  }

  @Test func `nothing accepted is lost when the machine stops between any two writes`() async throws {
    var images = 0
    for seed in Self.seeds {
      for (number, image) in try await Self.run(seed: seed).enumerated() {
        images += 1
        let words = "seed \(seed), stop \(number)"
        do {
          try await Self.check(image, words)
        } catch {
          Issue.record("\(words): \(error)")
          return
        }
      }
    }
    #expect(images > 20 * Self.seeds.count)
  }

  @Test func `moving the log syncs the database, also when the last of the log stays where it is`() throws {
    let temporary = try TemporaryFolder()
    let disk = try FaultyDisk(folder: temporary.path, seed: 1, operations: 1_000_000) { _ in }
    defer { disk.release() }
    let store = try SQLiteStore(path: temporary.file("push.sqlite"))
    func addTeam(_ name: String) throws {
      try store.pool.write { try $0.execute(sql: "INSERT INTO team VALUES (?)", arguments: [name]) }
    }
    try addTeam("first")
    let reader = try store.pool.makeSnapshot()
    try addTeam("second")
    let before = disk.durableSize(of: "push.sqlite")
    try store.moveLog()
    #expect(disk.durableSize(of: "push.sqlite") > before)
    #expect(disk.unsyncedWrites(of: "push.sqlite") == 0)
    #expect(try reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM team") } == 1)
  }

  /// Runs random appends and acknowledgements. Returns images of the disk at many moments.
  private static func run(seed: UInt64) async throws -> [Image] {
    let (temporary, clock) = (try TemporaryFolder(), TestClock())
    do { _ = try SQLiteStore(path: temporary.file("push.sqlite")) }
    let known = Mutex(Known())
    let images = Mutex<[Image]>([])
    let disk = try FaultyDisk(folder: temporary.path, seed: seed, operations: 25) { files in
      let known = known.withLock { $0 }
      images.withLock { $0.append(Image(files: files, known: known)) }
    }
    defer { disk.release() }
    let store = try SQLiteStore(path: temporary.file("push.sqlite"))
    let mailbox = try SQLiteMailbox(
      store: store, cap: 10_000, logger: .silent, now: { clock.seconds }, removed: { _ in }, checkpointInterval: 40)
    defer { mailbox.close() }
    var random = SplitMix64(state: seed &+ 1000)
    var number = 0
    for _ in 0..<60 {
      if Int.random(in: 0..<8, using: &random) == 0 { disk.fail(Int.random(in: 1...6, using: &random)) }
      let pushes = (0..<Int.random(in: 1...9, using: &random)).flatMap { _ -> [StoredPush] in
        number += 1
        let collapse = ["", "", "", "a"].randomElement(using: &random) ?? ""
        let payload = #"{"n":"\#(String(repeating: "x", count: .random(in: 0...3000, using: &random)))"}"#
        // One push to one of the devices, or a copy to each.
        let devices: [DeviceID] = [[1], [2], [1, 2]].randomElement(using: &random) ?? [1]
        return devices.map { samplePush(number, to: $0, collapse: collapse, payload: payload) }
      }
      known.withLock { known in for push in pushes { known.submitted[push.key] = push } }
      await withCheckedContinuation { continuation in
        mailbox.append(pushes) { outcomes in
          known.withLock { known in
            for (push, outcome) in zip(pushes, outcomes) {
              guard let seq = outcome.seq else { continue }
              known.accepted.append(push)
              known.numbers[push.key] = seq
            }
          }
          continuation.resume()
        }
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        let device: DeviceID = [1, 2].randomElement(using: &random) ?? 1
        let highest = known.withLock { known in
          known.accepted.filter { $0.device == device }.compactMap { known.numbers[$0.key] }.max() ?? 0
        }
        let seq = UInt64.random(in: 0...highest, using: &random)
        known.withLock { $0.acknowledged[device] = max($0.acknowledged[device] ?? 0, seq) }
        mailbox.acknowledge(device, through: seq)
      }
    }
    return images.withLock { $0 }
  }

  /// Starts with an image and checks the mailbox.
  private static func check(_ image: Image, _ words: String) async throws {
    let temporary = try TemporaryFolder()
    for (name, bytes) in image.files { _ = try temporary.write(bytes, name) }
    let home = try SQLiteHome(folder: temporary)
    defer { home.mailbox.close() }
    let known = image.known
    let unused = try await home.store.pool.read { db in
      try SQLiteMailbox.checkPayloads(db)
      return try Int.fetchOne(
        db,
        sql: """
          SELECT count(*) FROM mailbox_payload WHERE id NOT IN (SELECT payload FROM mailbox WHERE payload IS NOT NULL)
          """)
    }
    try #require(unused == 0, "\(words): payloads without copies")
    for device: DeviceID in [1, 2] {
      let entries = try await home.mailbox.pending(for: device, after: 0, limit: .max).entries
      let numbers = entries.map(\.seq)
      try #require(numbers == numbers.sorted() && Set(numbers).count == numbers.count, "\(words): \(numbers)")
      let found = Dictionary(uniqueKeysWithValues: entries.map { ($0.push.id, $0) })
      for entry in entries {
        let push = try #require(known.submitted[entry.push.key], "\(words): a push that nobody sent")
        try #require(push.payload == entry.push.payload, "\(words): another payload")
      }
      for push in known.accepted where push.device == device {
        let seq = known.numbers[push.key] ?? 0
        let isAcknowledged = seq <= known.acknowledged[device] ?? 0
        let isReplaced =
          !push.collapseID.isEmpty
          && entries.contains { $0.push.collapseID == push.collapseID && $0.push.id != push.id && $0.seq > seq }
        if let entry = found[push.id] {
          try #require(entry.seq == seq, "\(words): number \(entry.seq) was \(seq)")
        } else {
          let isReplacedAndAcknowledged =
            !push.collapseID.isEmpty
            && known.accepted.contains {
              $0.device == device && $0.collapseID == push.collapseID && known.numbers[$0.key] ?? 0 > seq
            }
          try #require(
            isAcknowledged || isReplaced || isReplacedAndAcknowledged, "\(words): accepted \(push.id) (\(seq)) is lost")
        }
      }
      // An accepted push is now a duplicate, and a new push gets a new sequence number.
      if let push = known.accepted.last(where: { $0.device == device }) {
        let outcome = await home.mailbox.append([push]).first
        try #require(outcome?.isDuplicate == true, "\(words): a retry of \(push.id) is stored again")
      }
    }
  }
}

extension StoredPush {
  /// The key that distinguishes the push from others, including its copies.
  fileprivate var key: RecentIDs.Key { RecentIDs.Key(device: device, app: app, id: id) }
}
