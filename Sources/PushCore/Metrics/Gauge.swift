import Synchronization

/// A number that rises and falls, changed by one thread at a time and read on any.
///
/// Whoever changes it does so on the thread that owns it, as a loop does: that costs no more than a number of its own.
package final class Gauge: Sendable {
  private let cell = Atomic<Int>(0)

  package init() {}

  package var value: Int { cell.load(ordering: .relaxed) }

  package func add(_ number: Int) {
    cell.store(cell.load(ordering: .relaxed) &+ number, ordering: .relaxed)
  }
}
