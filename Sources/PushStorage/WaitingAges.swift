import DequeModule
import PushCore

/// The number of pending pushes and the age of the oldest one, updated with each arrival and removal.
///
/// Times are counted in slots of four seconds, which limits the cost and the memory. A push is pending for at most
/// ``Limits/maximumLifetime``; a push whose time is further from the others, after a wrong clock, is counted
/// without its time.
package struct WaitingAges: Sendable {
  private static let slotBits: Int64 = 12
  private static let maximumSlots = (Limits.maximumLifetime * 1000) >> Int(slotBits)

  /// The number of pending pushes.
  package private(set) var count = 0
  /// The number of pending pushes that were received in each slot. The first slot is never empty.
  private var slots = Deque<UInt32>()
  /// The number of the first slot.
  private var first: Int64 = 0

  /// The time at which the oldest pending push was received, in milliseconds since 1970, up to four seconds too late;
  /// nil if none is pending.
  package var oldest: Int64? { slots.isEmpty ? nil : (first + 1) << WaitingAges.slotBits }

  /// Counts a push.
  ///
  /// - Parameter received: the time at which the push was received, in milliseconds since 1970.
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
