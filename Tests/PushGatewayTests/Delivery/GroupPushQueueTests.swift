import Synchronization
import Testing

@testable import PushCore
@testable import PushGateway

@Suite struct GroupPushQueueTests {
  private let line = GroupPushQueue()
  private let begun = Begun()

  /// The pushes that have begun, by number.
  private final class Begun: Sendable {
    let numbers = Mutex<[Int]>([])
  }

  private func enter(_ number: Int, app: Int64 = 1, copies: Int) -> Bool {
    line.enter(AppID(row: app), copies: copies) { [begun] in begun.numbers.withLock { $0.append(number) } }
  }

  private var numbers: [Int] { begun.numbers.withLock { $0 } }

  @Test func `copies are under way up to a bound, and others wait until some have ended`() {
    let half = Limits.groupCopiesAtOnce / 2
    #expect(
      [enter(1, copies: half), enter(2, copies: half), enter(3, copies: 1), enter(4, copies: half)] == [
        true, true, true, true,
      ])
    #expect(numbers == [1, 2])
    line.end(copies: half)
    // The fourth push does not fit together with the second and the third.
    #expect(numbers == [1, 2, 3])
    line.end(copies: half)
    #expect(numbers == [1, 2, 3, 4])
  }

  @Test func `a push with more copies than may be under way goes alone`() {
    let many = Limits.maximumGroupDevices
    #expect(enter(1, copies: 1) && enter(2, copies: many) && enter(3, copies: 1))
    #expect(numbers == [1])
    line.end(copies: 1)
    #expect(numbers == [1, 2])
    line.end(copies: many)
    #expect(numbers == [1, 2, 3])
  }

  @Test func `apps take turns, however many pushes one of them has in line`() {
    let all = Limits.groupCopiesAtOnce
    for number in 0..<5 { #expect(enter(number, app: 1, copies: all)) }
    for number in 10..<12 { #expect(enter(number, app: 2, copies: all)) }
    for _ in 0..<7 { line.end(copies: all) }
    #expect(numbers == [0, 1, 10, 2, 11, 3, 4])
  }

  @Test func `beyond its bound the line takes no push, and later it takes some again`() {
    let all = Limits.groupCopiesAtOnce
    for number in 0...Limits.waitingGroupPushes { #expect(enter(number, copies: all)) }
    #expect(!enter(-1, copies: 1))
    line.end(copies: all)
    #expect(enter(-2, copies: all) && !enter(-3, copies: all))
    for _ in 0...Limits.waitingGroupPushes { line.end(copies: all) }
    #expect(numbers == Array(0...Limits.waitingGroupPushes) + [-2])
  }
}
