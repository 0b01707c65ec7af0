import PushCore
import PushTesting
import Testing

@testable import PushGateway

@Suite struct PageQueueTests {
  private func push(_ number: Int, _ device: DeviceID = 1, due: Int64 = 0) -> PageQueue.Item {
    PageQueue.Item(device: device, content: .push(seq: UInt64(number), .number(number)), due: due)
  }

  private func numbers(_ attempts: [PageQueue.Attempt]) -> [UInt64] {
    attempts.compactMap { attempt in
      guard case .push(let seq, _) = attempt.item.content else { return nil }
      return seq
    }
  }

  @Test func `messages of a device are posted one after another, in their order`() throws {
    var queue = PageQueue()
    for number in 1...3 { queue.add(push(number)) }
    for number in 1...3 {
      let taken = queue.take(at: 0)
      #expect(numbers(taken) == [UInt64(number)])
      #expect(queue.take(at: 0).isEmpty)
      queue.finish(try #require(taken.first), .done, at: 0)
      #expect(queue.brokenInvariant() == nil)
    }
    #expect(queue.count == 0 && queue.next == nil)
  }

  @Test func `a message has a time, and devices are taken in the order of their times`() {
    var queue = PageQueue()
    queue.add(push(1, 1, due: 30))
    queue.add(push(2, 2, due: 10))
    queue.add(push(3, 3, due: 20))
    #expect(queue.next == 10)
    #expect(queue.take(at: 9).isEmpty)
    #expect(numbers(queue.take(at: 20)) == [2, 3])
    #expect(queue.next == 30)
  }

  @Test func `a line keeps its newest messages`() {
    var queue = PageQueue()
    let count = Limits.maximumPageQueue + 5
    for number in 1...count { queue.add(push(number)) }
    #expect(queue.count == Limits.maximumPageQueue && queue.dropped == 5)
    #expect(numbers(queue.take(at: 0)) == [6])
    #expect(queue.brokenInvariant() == nil)
  }

  @Test func `the number of attempts is limited`() throws {
    var queue = PageQueue()
    for number in 1...Limits.maximumPagePosts + 3 { queue.add(push(number, DeviceID(row: Int64(number)))) }
    let taken = queue.take(at: 0)
    #expect(taken.count == Limits.maximumPagePosts)
    #expect(queue.next == nil)
    #expect(queue.take(at: 0).isEmpty)
    queue.finish(try #require(taken.first), .done, at: 0)
    #expect(queue.next == 0)
    #expect(queue.take(at: 0).count == 1)
    #expect(queue.brokenInvariant() == nil)
  }

  @Test func `after a failure the device pauses, at least as long as its service requests`() throws {
    var queue = PageQueue()
    queue.add(push(1))
    queue.add(push(2))
    var bounds: [Int64] = []
    for _ in 1...10 {
      let now = queue.next ?? 0
      let attempt = try #require(queue.take(at: now).first)
      queue.finish(attempt, .failed(attempt.item, retryAfter: nil), at: now)
      bounds.append((queue.next ?? 0) - now)
    }
    #expect(bounds.allSatisfy { (50...900_000).contains($0) } && bounds[0] <= 5_000)
    let now = try #require(queue.next)
    let attempt = try #require(queue.take(at: now).first)
    #expect(numbers([attempt]) == [1])
    queue.finish(attempt, .failed(attempt.item, retryAfter: .seconds(3_600)), at: now)
    #expect(queue.next ?? 0 >= now + 3_600_000)
    #expect(queue.take(at: now + 3_599_999).isEmpty)
  }

  @Test func `a message that is attempted again has its new time and precedes the others`() throws {
    var queue = PageQueue()
    queue.add(push(1))
    queue.add(push(2))
    let attempt = try #require(queue.take(at: 0).first)
    var item = attempt.item
    item.due = 50
    queue.finish(attempt, .again(item), at: 0)
    #expect(queue.next == 50)
    #expect(queue.take(at: 50).map(\.item) == [item])
  }

  @Test func `only a push that was posted or is being posted is retracted`() throws {
    var queue = PageQueue()
    queue.retract(.number(1), on: 1, at: 0)
    #expect(queue.next == nil)
    queue.add(push(1))
    queue.retract(.number(1), on: 1, at: 0)
    #expect(queue.count == 1)
    let first = try #require(queue.take(at: 0).first)
    queue.finish(first, .posted(.number(1), topic: "topic"), at: 0)
    queue.retract(.number(1), on: 1, at: 5)
    let retraction = try #require(queue.take(at: 5).first)
    #expect(retraction.item.content == .retraction(.number(1), topic: "topic"))
    queue.finish(retraction, .done, at: 5)
    queue.add(push(2))
    let second = try #require(queue.take(at: 5).first)
    queue.retract(.number(2), on: 1, at: 6)
    queue.finish(second, .posted(.number(2), topic: nil), at: 6)
    #expect(queue.take(at: 6).map(\.item.content) == [.retraction(.number(2), topic: nil)])
  }

  @Test func `a device without a subscription is forgotten, also during an attempt`() throws {
    var queue = PageQueue()
    queue.add(push(1))
    queue.add(push(2))
    let attempt = try #require(queue.take(at: 0).first)
    queue.forget(1)
    #expect(queue.next == nil && queue.count == 1)
    queue.add(push(3, due: 7))
    queue.finish(attempt, .done, at: 0)
    #expect(queue.take(at: 6).isEmpty)
    #expect(numbers(queue.take(at: 7)) == [3])
    #expect(queue.brokenInvariant() == nil)
  }

  @Test func `the late end of an attempt for a former subscription does not end the attempt for the new one`() throws {
    var queue = PageQueue()
    queue.add(push(1))
    let former = try #require(queue.take(at: 0).first)
    queue.forget(1)
    queue.add(push(2))
    queue.add(push(3))
    let present = try #require(queue.take(at: 0).first)
    #expect(numbers([present]) == [2])
    queue.finish(former, .failed(former.item, retryAfter: nil), at: 0)
    // The attempt of message 2 is in progress, and message 1 is forgotten.
    #expect(queue.running == 1 && queue.count == 2)
    #expect(queue.take(at: 900_000).isEmpty)
    queue.finish(present, .done, at: 0)
    #expect(numbers(queue.take(at: 0)) == [3])
    #expect(queue.running == 1 && queue.brokenInvariant() == nil)
  }
}
