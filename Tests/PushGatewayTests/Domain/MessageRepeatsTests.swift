import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway

@Suite struct MessageRepeatsTests {
  private func key(_ number: Int, of sender: String = "backup") -> MessageRepeats.Key {
    MessageRepeats.Key(
      sender: sender, digest: [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)])
  }

  @Test func `equal messages of a window have the collapse id of the first one, and a count`() {
    var repeats = MessageRepeats()
    for number in 1...3 {
      let found = repeats.add(key(1), id: .number(number), for: 600, at: Int64(number) * 100_000)
      #expect(found.count == number && found.collapseID == APNSID.number(1).description && found.isNew)
    }
    // The window begins with the first message, and ends 600 seconds later.
    #expect(repeats.add(key(1), id: .number(4), for: 600, at: 699_999).count == 4)
    let next = repeats.add(key(1), id: .number(5), for: 600, at: 700_000)
    #expect(next.count == 1 && next.collapseID == APNSID.number(5).description)
  }

  @Test func `other messages, and those of other senders, are counted separately`() {
    var repeats = MessageRepeats()
    for key in [key(1), key(2), key(1, of: "ci")] {
      #expect(repeats.add(key, id: .number(1), for: 600, at: 0).count == 1)
    }
  }

  @Test func `a retry is not counted, and a message that was not stored is taken back`() {
    var repeats = MessageRepeats()
    let first = repeats.add(key(1), id: .number(1), for: 600, at: 0)
    let retry = repeats.add(key(1), id: .number(1), for: 600, at: 1)
    #expect(retry.count == 1 && !retry.isNew)
    repeats.remove(retry)
    let second = repeats.add(key(1), id: .number(2), for: 600, at: 2)
    #expect(second.count == 2)
    repeats.remove(second)
    #expect(repeats.add(key(1), id: .number(3), for: 600, at: 3).count == 2)
    repeats.remove(first)
    repeats.remove(first)
    #expect(repeats.size == 0)
    #expect(repeats.add(key(1), id: .number(4), for: 600, at: 4).collapseID == APNSID.number(4).description)
  }

  @Test func `a clock that goes back begins another window`() {
    var repeats = MessageRepeats()
    _ = repeats.add(key(1), id: .number(1), for: 600, at: 1_000_000)
    #expect(repeats.add(key(1), id: .number(2), for: 600, at: 999_999).count == 1)
  }

  @Test func `space is made for thousands of messages at once, not for each of them`() {
    var repeats = MessageRepeats()
    let count = Limits.maximumMessageRepeats
    for number in 0..<count { _ = repeats.add(key(number), id: .number(number), for: 600, at: Int64(number)) }
    // One window is over.
    _ = repeats.add(key(count), id: .number(count), for: 600, at: 600_000)
    #expect(repeats.size <= count / 2)
  }

  @Test func `the memory is bounded`() {
    var repeats = MessageRepeats()
    for number in 0..<Limits.maximumMessageRepeats + 10 {
      _ = repeats.add(key(number), id: .number(number), for: 600, at: Int64(number))
      #expect(repeats.size <= Limits.maximumMessageRepeats)
    }
    #expect(repeats.size == 10)
  }
}
