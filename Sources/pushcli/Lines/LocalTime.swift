import Foundation
import GatewayProtocol
import PushCore

/// Times of the gateway as they are shown on this machine.
enum LocalTime {
  /// `2026-11-21T14:03:09.123Z` by the clock of a zone: `2026-11-21 15:03:09.123`. Another form stays as it is.
  static func text(_ utc: String, in zone: TimeZone = .current) -> String {
    guard let date = Timestamp.date(utc.utf8) else { return utc }
    let milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded())
    var bytes: [UInt8] = []
    appendTimestamp(milliseconds + Int64(zone.secondsFromGMT(for: date)) * 1000, to: &bytes)
    return String(decoding: bytes.dropLast(), as: UTF8.self).replacing("T", with: " ")
  }
}
