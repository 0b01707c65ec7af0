import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

/// Compares the tables that replace dictionaries with dictionaries.
@Suite struct HashIndexTests {
  @Test(arguments: [1, 2, 3]) func `it finds what a dictionary finds`(_ seed: UInt64) {
    var random = SplitMix64(state: seed)
    // Few different hashes, so that many keys share their position, their tag or the complete hash.
    func hash(_ key: Int) -> UInt64 { UInt64(key % 7) << 32 | UInt64(key % 2) | (key % 3 == 0 ? 0xFFFF_FFFE << 32 : 0) }
    var (index, records, known) = (HashIndex(), Slab<Int>(), [Int: Int]())
    for _ in 0..<4000 {
      let key = Int.random(in: 0..<200, using: &random)
      let found = index.find(hash(key)) { records[$0] == key }
      #expect(found == known[key])
      if let found {
        index.remove(found, hash: hash(key))
        records.remove(found)
        known[key] = nil
      } else {
        let number = records.add(key)
        index.insert(number, hash: hash(key))
        known[key] = number
      }
    }
    #expect((0..<records.end).compactMap { records[$0] }.sorted() == known.keys.sorted())
    // Free numbers are used again.
    #expect(records.end <= 200)
  }

  @Test func `many numbers are found, with and without space made for them`() {
    for reserved in [0, 3000, 100_000] {
      var index = HashIndex()
      index.reserve(reserved)
      for number in 0..<3000 { index.insert(number, hash: HashIndex.hash(of: Int64(number * 5))) }
      #expect(
        (0..<3000).allSatisfy { number in index.find(HashIndex.hash(of: Int64(number * 5))) { $0 == number } == number }
      )
      #expect(index.find(HashIndex.hash(of: 1)) { _ in false } == nil)
    }
  }

  @Test(arguments: [1, 2, 3]) func `marks are known as in a set`(_ seed: UInt64) {
    var random = SplitMix64(state: seed)
    var (marks, known) = (RecentMarks(), Set<UInt64>())
    for _ in 0..<20_000 {
      let number = UInt64.random(in: 0..<4000, using: &random)
      let mark = RecentMarks.Mark(number, 0)
      #expect(marks.contains(mark) == known.contains(number))
      if Bool.random(using: &random) {
        #expect(marks.insert(mark) == known.insert(number).inserted)
      } else {
        marks.remove(mark)
        known.remove(number)
      }
    }
    #expect((0..<4000).allSatisfy { marks.contains(.init($0, 0)) == known.contains($0) })
  }

  @Test(arguments: [1, 2, 3]) func `a queue is an array that lets its front go`(_ seed: UInt64) {
    var random = SplitMix64(state: seed)
    var (queue, array, next) = (MailboxIndex.Queue(), [UInt64](), UInt64(0))
    for _ in 0..<3000 {
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<55:
        next += 1
        array.append(next)
        queue.append(HashIndexTests.waiting(next))
      case 55..<98 where !array.isEmpty:
        array.removeFirst()
        queue.removeFirst()
      case 98:
        array.removeAll { $0 % 3 == 0 }
        queue.removeAll { $0.seq % 3 == 0 }
      default:
        while array.count > 5 { array.removeFirst() }
        while queue.count > 5 { queue.removeFirst() }
      }
      #expect(queue.count == array.count && queue.first?.seq == array.first && queue.last?.seq == array.last)
    }
    #expect(queue.map(\.seq) == array)
  }

  @Test func `what waits is kept in 56 bytes, whatever it is`() {
    #expect(MemoryLayout<MailboxIndex.Waiting>.stride == 56)
    let entry = MailboxIndex.Entry(
      row: .max, seq: .max, app: AppID(row: ColumnBounds.app.upperBound), id: .number(7), isSenderID: true,
      received: ColumnBounds.milliseconds.upperBound, expires: ColumnBounds.seconds.upperBound, collapseID: "a",
      isRemoved: true)
    var waiting = MailboxIndex.Waiting(entry)
    #expect(waiting.row == entry.row && waiting.seq == entry.seq && waiting.app == entry.app && waiting.id == entry.id)
    #expect(waiting.received == entry.received && waiting.expires == entry.expires)
    #expect(waiting.isSenderID && waiting.isRemoved && waiting.hasCollapseID)
    waiting.isRemoved = false
    #expect(waiting.isSenderID && !waiting.isRemoved && waiting.hasCollapseID && waiting.received == entry.received)
  }

  private static func waiting(_ seq: UInt64) -> MailboxIndex.Waiting {
    MailboxIndex.Waiting(
      .init(
        row: Int64(seq), seq: seq, app: 1, id: .number(Int(seq)), isSenderID: false, received: 0, expires: .max,
        collapseID: ""))
  }
}
