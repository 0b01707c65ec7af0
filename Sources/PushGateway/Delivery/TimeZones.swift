import Foundation
package import PushPolicy
import Synchronization

/// The time-zone rules, which the policy gets as an argument.
enum TimeZones {
  /// Cached zones, limited to the known identifiers: some hundreds. Other names, such as `GMT+0123` or invalid ones,
  /// come from users in unlimited number; they use no memory here and block no other lookup.
  private static let cache = Mutex<[String: TimeZone]>([:])
  private static let names = Set(TimeZone.knownTimeZoneIdentifiers)

  /// Returns the zone of a name; nil if there is none.
  static func zone(named name: String) -> TimeZone? {
    if let zone = cache.withLock({ $0[name] }) { return zone }
    guard let zone = TimeZone(identifier: name) else { return nil }
    if names.contains(name) { cache.withLock { $0[name] = zone } }
    return zone
  }

  /// Returns the offset in seconds east of UTC; an unknown zone counts as UTC.
  @Sendable static func offset(_ name: String?, _ seconds: Int64) -> Int {
    let named: TimeZone = if let name { zone(named: name) ?? .gmt } else { .current }
    return named.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
  }
}

extension ZonedTime {
  /// Creates a moment with the time-zone rules of this machine.
  package static func gateway(_ seconds: Int64) -> ZonedTime { ZonedTime(seconds: seconds, offset: TimeZones.offset) }
}
