import Testing

@testable import PushCluster

@Suite struct OrderedCompletionsTests {
  /// A batch. Both its ticket and its call refer to it.
  private final class Batch: @unchecked Sendable {
    let ticket: OrderedCompletions.Ticket
    init(_ ticket: OrderedCompletions.Ticket) { self.ticket = ticket }
  }

  @Test func `calls come in the order of their tickets, and nothing stays of them`() {
    let tickets = OrderedCompletions()
    nonisolated(unsafe) var called: [Int] = []
    weak var first: Batch?
    weak var last: Batch?
    do {
      let batches = (0..<3).map { _ in Batch(tickets.take()) }
      (first, last) = (batches[0], batches[2])
      for number in [2, 1, 0] {
        let batch = batches[number]
        tickets.done(batch.ticket) {
          unsafe called.append(number)
          withExtendedLifetime(batch) {}
        }
        #expect(unsafe called == (number == 0 ? [0, 1, 2] : []))
      }
    }
    #expect(first == nil && last == nil)
  }
}
