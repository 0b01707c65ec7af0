import PushCore
import Synchronization

/// When devices were connected, until it is written down.
///
/// A storm of devices that come back is one entry each, and some transactions a while later.
final class LastSeen: Sendable {
  private let seen = Mutex<[DeviceID: Int64]>([:])

  /// A device's stream began or ended at `now`, in seconds since 1970.
  func note(_ device: DeviceID, at now: Int64) { seen.withLock { $0[device] = now } }

  /// Some of what was noted, which is not kept any longer: at most ``Limits/presenceSlice`` devices.
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
