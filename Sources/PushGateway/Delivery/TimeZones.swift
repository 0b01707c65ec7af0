import Foundation
package import PushPolicy
import Synchronization

/// The rules of time zones, which the policy gets as an argument.
enum TimeZones {
  /// Zones that were asked for, of those with a name of their own: some hundreds. Whatever else is a zone (`GMT+0123`), or
  /// is none, comes from people in endless numbers, takes no room here and holds nobody up.
  private static let cache = Mutex<[String: TimeZone]>([:])
  private static let names = Set(TimeZone.knownTimeZoneIdentifiers)

  /// How many zones are kept.
  static var cachedCount: Int { cache.withLock { $0.count } }

  /// The zone of this name; nil when there is none.
  static func zone(named name: String) -> TimeZone? {
    if let zone = cache.withLock({ $0[name] }) { return zone }
    guard let zone = TimeZone(identifier: name) else { return nil }
    if names.contains(name) { cache.withLock { $0[name] = zone } }
    return zone
  }

  /// Seconds east of UTC; a zone that there is not is UTC.
  @Sendable static func offset(_ name: String?, _ seconds: Int64) -> Int {
    let named: TimeZone = if let name { zone(named: name) ?? .gmt } else { .current }
    return named.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
  }
}

extension ZonedTime {
  /// A moment where time zones are those of this machine.
  package static func gateway(_ seconds: Int64) -> ZonedTime { ZonedTime(seconds: seconds, offset: TimeZones.offset) }
}
