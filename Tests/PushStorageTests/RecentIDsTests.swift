import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct RecentIDsTests {
  @Test func `so many are remembered, and the oldest forgotten for the next`() {
    let capacity = 1_000
    var ids = RecentIDs(capacity: capacity)
    func key(_ number: Int) -> RecentIDs.Key { RecentIDs.Key(device: 1, app: 1, id: .number(number)) }
    for number in 0...capacity {
      ids.insert(key(number))
      ids.release(key(number), row: Int64(number), dueBy: 100)
    }
    #expect(ids.forget(now: 0) == [0])
    #expect(!ids.contains(key(0)))
    #expect(ids.contains(key(1)) && ids.contains(key(capacity)))
    #expect(ids.forget(now: 100).count == capacity)
  }
}
