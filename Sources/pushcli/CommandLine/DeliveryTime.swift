import Foundation
import PushCore

/// A moment that the user gives for a push, with its time zone: the zone in the text, else this machine's.
struct DeliveryTime: Equatable {
  /// Whole seconds since 1970.
  let seconds: Int64
  let zone: TimeZone

  /// The moment with its zone, such as `2026-11-23 18:00:00 +01:00 (Europe/Berlin)`.
  var words: String {
    let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    let clock = String(Timestamp.text((seconds + Int64(offset)) * 1000).prefix(19)).replacing("T", with: " ")
    return "\(clock) \(Timestamp.text(offset: offset))" + (zone.identifier.contains("/") ? " (\(zone.identifier))" : "")
  }

  /// Makes the moment that lies the given time after `now`.
  init(in text: String, now: Date, zone: TimeZone = .current) throws(CommandFailure) {
    let span = try TimeSpan(text, option: "--in", requiresUnit: true)
    (seconds, self.zone) = (Int64((now.timeIntervalSince1970 + span.seconds).rounded(.up)), zone)
  }

  /// Parses a time of day, which means its next occurrence, or a date with a time. Both can have a zone (`Z`, `+01:00`,
  /// `Europe/Berlin`).
  init(at text: String, now: Date, zone: TimeZone = .current, option: String = "--at") throws(CommandFailure) {
    guard let time = DeliveryTime.read(text, now: now, zone: zone) else {
      throw CommandFailure(
        .usage,
        "\(option) is \"\(text)\": expected a time as 18:00, 2026-11-23T18:00, 2026-11-23T18:00+01:00 or \"18:00 Europe/Berlin\""
      )
    }
    self = time
  }

  init(seconds: Int64, zone: TimeZone) { (self.seconds, self.zone) = (seconds, zone) }

  private init(_ date: Date, _ zone: TimeZone) {
    (seconds, self.zone) = (Int64(date.timeIntervalSince1970.rounded()), zone)
  }

  private static func read(_ text: String, now: Date, zone: TimeZone) -> DeliveryTime? {
    let pattern =
      /(?:(\d{4})-(\d\d)-(\d\d)[T ])?(\d\d?):(\d\d)(?::(\d\d))?\ ?(Z|[+-]\d\d:?\d\d|[A-Za-z]+\/[A-Za-z_\/+-]+|UTC)?/
    guard let match = text.wholeMatch(of: pattern), let zone = match.7.map({ named(String($0)) }) ?? zone else {
      return nil
    }
    var parts = DateComponents()
    (parts.hour, parts.minute, parts.second) = (Int(match.4), Int(match.5), match.6.flatMap { Int($0) } ?? 0)
    guard let hour = parts.hour, let minute = parts.minute, let second = parts.second, hour < 24, minute < 60,
      second < 60
    else { return nil }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    guard let year = match.1.flatMap({ Int($0) }), let month = match.2.flatMap({ Int($0) }),
      let day = match.3.flatMap({ Int($0) })
    else {
      return calendar.nextDate(after: now, matching: parts, matchingPolicy: .nextTime).map { DeliveryTime($0, zone) }
    }
    (parts.year, parts.month, parts.day) = (year, month, day)
    // Rejects dates that do not exist, such as 30 February.
    guard (1970...9999).contains(year), let date = calendar.date(from: parts),
      calendar.dateComponents([.year, .month, .day], from: date)
        == DateComponents(year: year, month: month, day: day)
    else { return nil }
    return DeliveryTime(date, zone)
  }

  private static func named(_ name: String) -> TimeZone? {
    if name == "Z" || name == "UTC" { return .gmt }
    guard let sign = name.first, sign == "+" || sign == "-" else { return TimeZone(identifier: name) }
    let digits = name.dropFirst().filter { $0 != ":" }
    guard let hours = Int(digits.prefix(2)), let minutes = Int(digits.suffix(2)), hours <= 18, minutes < 60 else {
      return nil
    }
    return TimeZone(secondsFromGMT: (hours * 3600 + minutes * 60) * (sign == "-" ? -1 : 1))
  }
}
