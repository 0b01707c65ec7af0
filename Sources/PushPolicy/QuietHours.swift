/// A weekly window of quiet hours: `22:00-07:00 mon-fri Europe/Berlin`.
///
/// The window applies while the local time is in it; it also begins and ends by local time on days with a change of
/// the clocks. Its days are those on which it begins.
package struct QuietWindow: Sendable, Hashable {
  /// The minutes of the day at which the window begins and ends. If the end is not after the begin, it is on the next
  /// day.
  package var from: Int
  package var to: Int
  /// One flag for each day, Monday first.
  package var days: [Bool]
  /// A time zone such as `Europe/Berlin`; `nil` for the gateway's zone.
  package var zone: String?

  package init(from: Int, to: Int, days: [Bool] = .init(repeating: true, count: 7), zone: String? = nil) {
    precondition((0..<1440).contains(from) && (0..<1440).contains(to) && days.count == 7)
    (self.from, self.to, self.days, self.zone) = (from, to, days, zone)
  }

  package func contains(_ moment: ZonedTime) -> Bool {
    let (day, minute) = moment.wallClock(in: zone)
    if from < to { return days[day] && (from..<to).contains(minute) }
    return days[day] && minute >= from || days[(day + 6) % 7] && minute < to
  }
}

/// The times of day of the summary: `08:00,18:00 Europe/Berlin`.
package struct SummaryTimes: Sendable, Equatable {
  /// The minutes of the day, in ascending order, at least one.
  package var minutes: [Int]
  /// A time zone such as `Europe/Berlin`; `nil` for the gateway's zone.
  package var zone: String?

  /// The maximum number of times a day.
  static let maximumCount = 12

  package init(minutes: [Int] = [8 * 60, 18 * 60], zone: String? = nil) {
    precondition(!minutes.isEmpty && minutes.allSatisfy((0..<1440).contains))
    self.minutes = minutes
    self.zone = zone
  }

  /// Returns the due time of a push that arrives at `moment`, in seconds since 1970.
  package func due(after moment: ZonedTime) -> Int64 {
    moment.next(of: minutes, in: zone) ?? moment.seconds
  }
}

extension QuietWindow: CustomStringConvertible {
  static let dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

  /// Reads `22:00-07:00`, optionally followed by days (`mon-fri`, `sat,sun`, `daily`) and a time zone; `nil` for any
  /// other text.
  package init?(_ text: String) {
    ReadingSteps.add(text.utf8.count)
    var words = text.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard !words.isEmpty else { return nil }
    let times = words.removeFirst().split(separator: "-", omittingEmptySubsequences: false)
    guard times.count == 2, let from = minute(of: times[0]), let to = minute(of: times[1]) else { return nil }
    var days = [Bool](repeating: true, count: 7)
    if let first = words.first, let named = Self.days(first) {
      days = named
      words.removeFirst()
    }
    guard words.count <= 1, words.allSatisfy(isZoneName) else { return nil }
    self.init(from: from, to: to, days: days, zone: words.first.map(String.init))
  }

  private static func days(_ text: Substring) -> [Bool]? {
    if text == "daily" { return .init(repeating: true, count: 7) }
    ReadingSteps.add(text.utf8.count)
    var days = [Bool](repeating: false, count: 7)
    for range in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = range.split(separator: "-", omittingEmptySubsequences: false).map {
        dayNames.firstIndex(of: $0.lowercased())
      }
      guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else { return nil }
      var day = first
      days[day] = true
      while day != last {
        day = (day + 1) % 7
        days[day] = true
      }
    }
    return days
  }

  /// The text in the form that ``init(_:)`` reads.
  package var description: String {
    var words = ["\(clock(from))-\(clock(to))"]
    if days.contains(false) {
      words.append(
        QuietWindow.dayNames.indices.filter { days[$0] }.map { QuietWindow.dayNames[$0] }.joined(separator: ","))
    }
    if let zone { words.append(zone) }
    return words.joined(separator: " ")
  }
}

extension SummaryTimes: CustomStringConvertible {
  /// Reads `08:00,18:00`, optionally followed by a time zone; `nil` for any other text.
  package init?(_ text: String) {
    ReadingSteps.add(text.utf8.count)
    let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard (1...2).contains(words.count), words.dropFirst().allSatisfy(isZoneName) else { return nil }
    let times = words[0].split(separator: ",", omittingEmptySubsequences: false).map(minute)
    guard !times.contains(nil), times.count <= Self.maximumCount else { return nil }
    self.init(minutes: Set(times.compactMap(\.self)).sorted(), zone: words.dropFirst().first.map(String.init))
  }

  /// The text in the form that ``init(_:)`` reads.
  package var description: String {
    minutes.map(clock).joined(separator: ",") + (zone.map { " " + $0 } ?? "")
  }
}

extension QuietWindow: Codable {
  /// Decodes the text form.
  package init(from decoder: any Decoder) throws {
    self = try decoder.read(QuietWindow.init(_:), "window of quiet hours")
  }

  package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension SummaryTimes: Codable {
  /// Decodes the text form.
  package init(from decoder: any Decoder) throws {
    self = try decoder.read(SummaryTimes.init(_:), "times of a summary")
  }

  package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension Decoder {
  /// Returns the value of a text, which errors call `name`.
  fileprivate func read<Value>(_ parse: (String) -> Value?, _ name: String) throws -> Value {
    let text = try String(from: self)
    if let value = parse(text) { return value }
    throw DecodingError.dataCorrupted(
      .init(codingPath: codingPath, debugDescription: "invalid \(name) \(text.evidence)"))
  }
}

/// Returns the minute of the day of `07:00` or `7:00`; nil for an invalid time.
private func minute(of text: Substring) -> Int? {
  let fields = text.split(separator: ":", omittingEmptySubsequences: false)
  guard fields.count == 2, (1...2).contains(fields[0].count), fields[1].count == 2,
    fields.allSatisfy({ $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }),
    let hour = Int(fields[0]), let minute = Int(fields[1]), hour < 24, minute < 60
  else { return nil }
  return hour * 60 + minute
}

private func clock(_ minute: Int) -> String {
  func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
  return digits(minute / 60) + ":" + digits(minute % 60)
}

/// Returns true if the text has the form of a time zone's name; the gateway checks if there is such a zone.
private func isZoneName(_ text: Substring) -> Bool {
  text.utf8.count <= 64 && text.first?.isLetter == true && text != "daily"
    && text.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "/_+-".utf8.contains(byte)
    } && (text.contains("/") || QuietWindow.dayNames.allSatisfy { !text.lowercased().hasPrefix($0) })
}
