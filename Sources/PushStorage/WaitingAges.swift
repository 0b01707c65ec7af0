import DequeModule
import PushCore

/// How many pushes wait, and since when the oldest does: counted as they come and go, for whoever asks at any time.
///
/// Times fall into slots of four seconds, so that it costs little and has a bound: a push waits for
/// ``Limits/maximumLifetime`` at most, and what is further apart, after a clock was wrong, is counted without its time.
package struct WaitingAges: Sendable {
  private static let slotBits: Int64 = 12
  private static let maximumSlots = (Limits.maximumLifetime * 1000) >> Int(slotBits)

  /// How many pushes wait.
  package private(set) var count = 0
  /// How many of them came in each slot, beginning with one in which some did.
  private var slots = Deque<UInt32>()
  /// The number of the first slot.
  private var first: Int64 = 0

  package init() {}

  /// When the oldest came, in milliseconds since 1970: up to four seconds later than it did. Nil when nothing waits.
  package var oldest: Int64? { slots.isEmpty ? nil : (first + 1) << WaitingAges.slotBits }

  /// - Parameter received: when the push came, in milliseconds since 1970.
  mutating func enter(_ received: Int64) {
    count += 1
    let slot = received >> WaitingAges.slotBits
    if slots.isEmpty { first = slot }
    var offset = slot - first
    if offset < 0 {
      guard slots.count < WaitingAges.maximumSlots, -offset <= Int64(WaitingAges.maximumSlots - slots.count) else {
        return
      }
      slots.prepend(contentsOf: repeatElement(0, count: Int(-offset)))
      (first, offset) = (slot, 0)
    }
    guard offset < Int64(WaitingAges.maximumSlots) else { return }
    if offset >= Int64(slots.count) {
      slots.append(contentsOf: repeatElement(0, count: Int(offset) + 1 - slots.count))
    }
    slots[Int(offset)] &+= 1
  }

  mutating func leave(_ received: Int64) {
    count -= 1
    if count == 0 { return slots.removeAll(keepingCapacity: slots.count < 1024) }
    let offset = (received >> WaitingAges.slotBits) - first
    guard offset >= 0, offset < Int64(slots.count), slots[Int(offset)] > 0 else { return }
    slots[Int(offset)] &-= 1
    while slots.first == 0 {
      slots.removeFirst()
      first += 1
    }
  }
}
