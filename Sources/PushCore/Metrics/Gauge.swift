import Synchronization

/// A number that increases and decreases; one thread at a time changes it, and any thread reads it.
///
/// Only the thread that owns the gauge, such as an event loop, changes it. A change then costs no more than that of a
/// plain variable.
package final class Gauge: Sendable {
  private let cell = Atomic<Int>(0)

  package init() {}

  package var value: Int { cell.load(ordering: .relaxed) }

  package func add(_ number: Int) {
    cell.store(cell.load(ordering: .relaxed) &+ number, ordering: .relaxed)
  }
}
