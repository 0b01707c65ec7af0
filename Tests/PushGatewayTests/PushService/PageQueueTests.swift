import PushCore
import PushTesting
import Testing

@testable import PushGateway

@Suite struct PageQueueTests {
  private func push(_ number: Int, _ device: DeviceID = 1, due: Int64 = 0) -> PageQueue.Item {
    PageQueue.Item(device: device, content: .push(seq: UInt64(number), .number(number)), due: due)
  }

  private func numbers(_ items: [PageQueue.Item]) -> [UInt64] {
    items.compactMap { item in
      guard case .push(let seq, _) = item.content else { return nil }
      return seq
    }
  }

  @Test func `messages of a device are posted one after another, in their order`() {
    var queue = PageQueue()
    for number in 1...3 { queue.add(push(number)) }
    for number in 1...3 {
      let taken = queue.take(at: 0)
      #expect(numbers(taken) == [UInt64(number)])
      #expect(queue.take(at: 0).isEmpty)
      queue.finish(1, .done, at: 0)
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

  @Test func `the number of attempts is limited`() {
    var queue = PageQueue()
    for number in 1...Limits.maximumPagePosts + 3 { queue.add(push(number, DeviceID(row: Int64(number)))) }
    #expect(queue.take(at: 0).count == Limits.maximumPagePosts)
    #expect(queue.next == nil)
    #expect(queue.take(at: 0).isEmpty)
    queue.finish(1, .done, at: 0)
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
      let item = try #require(queue.take(at: now).first)
      queue.finish(1, .failed(item, retryAfter: nil), at: now)
      bounds.append((queue.next ?? 0) - now)
    }
    #expect(bounds.allSatisfy { (50...900_000).contains($0) } && bounds[0] <= 5_000)
    let now = try #require(queue.next)
    let item = try #require(queue.take(at: now).first)
    #expect(numbers([item]) == [1])
    queue.finish(1, .failed(item, retryAfter: .seconds(3_600)), at: now)
    #expect(queue.next ?? 0 >= now + 3_600_000)
    #expect(queue.take(at: now + 3_599_999).isEmpty)
  }

  @Test func `a message that is attempted again has its new time and precedes the others`() throws {
    var queue = PageQueue()
    queue.add(push(1))
    queue.add(push(2))
    var item = try #require(queue.take(at: 0).first)
    item.due = 50
    queue.finish(1, .again(item), at: 0)
    #expect(queue.next == 50)
    #expect(queue.take(at: 50) == [item])
  }

  @Test func `only a push that was posted or is being posted is retracted`() throws {
    var queue = PageQueue()
    queue.retract(.number(1), on: 1, at: 0)
    #expect(queue.next == nil)
    queue.add(push(1))
    queue.retract(.number(1), on: 1, at: 0)
    #expect(queue.count == 1)
    _ = queue.take(at: 0)
    queue.finish(1, .posted(.number(1), topic: "topic"), at: 0)
    queue.retract(.number(1), on: 1, at: 5)
    let retraction = try #require(queue.take(at: 5).first)
    #expect(retraction.content == .retraction(.number(1), topic: "topic"))
    queue.finish(1, .done, at: 5)
    queue.add(push(2))
    _ = queue.take(at: 5)
    queue.retract(.number(2), on: 1, at: 6)
    queue.finish(1, .posted(.number(2), topic: nil), at: 6)
    #expect(queue.take(at: 6).map(\.content) == [.retraction(.number(2), topic: nil)])
  }

  @Test func `a device without a subscription is forgotten, also during an attempt`() {
    var queue = PageQueue()
    queue.add(push(1))
    queue.add(push(2))
    _ = queue.take(at: 0)
    queue.forget(1)
    #expect(queue.next == nil && queue.count == 1)
    queue.add(push(3, due: 7))
    queue.finish(1, .done, at: 0)
    #expect(queue.take(at: 6).isEmpty)
    #expect(numbers(queue.take(at: 7)) == [3])
    #expect(queue.brokenInvariant() == nil)
  }
}
