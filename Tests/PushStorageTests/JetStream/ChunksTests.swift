import Testing

@testable import PushCluster

@Suite(.timeLimit(.minutes(5))) struct ChunksTests {
  @Test func `an entry goes in parts and comes back whole`() {
    let entry = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
    let split = Chunks.split(entry, size: 300)
    var parts = Chunks()
    let found = split.enumerated().map { parts.add($1, "\($0 + 1)/\(split.count)") }
    #expect(found == [nil, nil, nil, entry])
    #expect(parts.add([1], nil) == [1])
  }

  @Test func `parts that another entry interrupted, or of a wrong number, are none`() {
    var parts = Chunks()
    #expect(parts.add([1], "1/2") == nil && parts.add([9], nil) == [9] && parts.add([2], "2/2") == nil)
    for place in ["0/1", "2/1", "1/0", "1/1001", "1", "1/2/3", "x/y", "-1/-1", "9223372036854775808/1"] {
      #expect(parts.add([1], place) == nil)
    }
  }

  @Test func `parts beyond the largest entry are let go of, and the next entry is read`() {
    let part = [UInt8](repeating: 0, count: 1 << 10)
    let limit = 16 * part.count
    var parts = Chunks(limit: limit)
    for number in 1...17 { #expect(parts.add(part, "\(number)/17") == nil) }
    for number in 1...15 { #expect(parts.add(part, "\(number)/16") == nil) }
    #expect(parts.add(part, "16/16")?.count == limit)
  }
}
