import Foundation
package import PushPolicy
import Synchronization

/// The rules of time zones, which the policy gets as an argument.
enum TimeZones {
  private static let known = Mutex<[String: TimeZone?]>([:])

  /// The zone of this name; nil when there is none.
  static func zone(named name: String) -> TimeZone? {
    known.withLock { known in
      if let zone = known[name] { return zone }
      let zone = TimeZone(identifier: name)
      // Names come from people: a bound keeps a mistaken program from filling the memory.
      if known.count < 1000 { known[name] = zone }
      return zone
    }
  }

  /// Seconds east of UTC; a zone that there is not is UTC.
  @Sendable static func offset(_ name: String?, _ seconds: Int64) -> Int {
    let named: TimeZone = if let name { zone(named: name) ?? .gmt } else { .current }
    return named.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
  }
}

extension Moment {
  /// A moment where time zones are those of this machine.
  package static func gateway(_ seconds: Int64) -> Moment { Moment(seconds: seconds, offset: TimeZones.offset) }
}
