import PushCore
import Synchronization

/// The times at which devices were last connected, until they are written to disk.
///
/// A reconnect storm adds one entry per device, and some transactions a while later.
final class LastSeen: Sendable {
  private let seen = Mutex<[DeviceID: Int64]>([:])

  /// Records that a device's stream began or ended at `now`, in seconds since 1970.
  func note(_ device: DeviceID, at now: Int64) { seen.withLock { $0[device] = now } }

  /// Removes and returns at most ``Limits/presenceSlice`` of the recorded devices.
  func take() -> [DeviceID: Int64] {
    seen.withLock { seen in
      if seen.count <= Limits.presenceSlice {
        defer { seen = [:] }
        return seen
      }
      let slice = seen.prefix(Limits.presenceSlice)
      for (device, _) in slice { seen[device] = nil }
      return Dictionary(uniqueKeysWithValues: slice.map { ($0.key, $0.value) })
    }
  }
}
