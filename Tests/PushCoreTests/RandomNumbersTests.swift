import Testing

@testable import PushCore

@Suite struct BufferedRandomTests {
  @Test func `a UUID is of version 4, in upper case, and never twice the same`() throws {
    let identifiers = (0..<1000).map { _ in randomUUID() }
    #expect(Set(identifiers).count == identifiers.count)
    let form = try Regex("[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}")
    #expect(try identifiers.allSatisfy { try form.wholeMatch(in: $0) != nil })
  }

  @Test(arguments: [1, 7, 512]) func `each number comes once, also when the buffer is filled again`(_ count: Int) {
    var (random, other) = (BufferedRandom(count: count), BufferedRandom(count: count))
    var numbers: Set<UInt64> = []
    for _ in 0..<2_000 {
      numbers.insert(random.next())
      numbers.insert(other.next())
    }
    // 4,000 numbers of 64 bits: two are equal in one of 10¹² runs.
    #expect(numbers.count == 4_000)
  }

  @Test func `every bit is as often 1 as 0`() {
    var random = BufferedRandom()
    var ones = [Int](repeating: 0, count: 64)
    for _ in 0..<10_000 {
      let number = random.next()
      for bit in 0..<64 where number & 1 << UInt64(bit) != 0 { ones[bit] += 1 }
    }
    // Ten standard deviations.
    #expect(ones.allSatisfy { abs($0 - 5_000) < 500 })
  }
}
