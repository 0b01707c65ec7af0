import PushCore

/// The schedule of backups, their number and their folder (`backup`): `daily, keep 7, to DIR`.
package struct BackupSchedule: Sendable, Equatable {
  /// The interval of backups; each begins at a round time in UTC, so that daylight saving time has no effect.
  package enum Interval: String, Sendable, CaseIterable {
    case hourly, daily
    /// On Mondays.
    case weekly

    /// The length in seconds.
    fileprivate var length: Int64 {
      switch self {
      case .hourly: 3_600
      case .daily: 86_400
      case .weekly: 7 * 86_400
      }
    }

    /// The offset of intervals in seconds: the first of January 1970 was a Thursday.
    fileprivate var offset: Int64 { self == .weekly ? 4 * 86_400 : 0 }

    /// Returns the beginning of the interval that contains a time; both in seconds since 1970.
    package func beginning(of time: Int64) -> Int64 {
      let place = (time - offset) % length
      return time - (place < 0 ? place + length : place)
    }
  }

  package var interval: Interval
  package var count: Int
  package var folder: String

  static let counts = 1...1_000
  static let expected = "hourly, daily or weekly, keep N, to DIR, as \"daily, keep 7, to /var/backups/pushgateway\""

  /// Parses `daily, keep 7, to DIR`, where DIR is an absolute path and the rest of the text.
  init?(_ text: String) {
    guard
      let match = text.wholeMatch(of: /\s*(hourly|daily|weekly)\s*,\s*keep\s+([0-9]{1,4})\s*,\s*to\s+(\/.*[^\s])\s*/),
      let interval = Interval(rawValue: String(match.1)), let count = Int(match.2),
      BackupSchedule.counts.contains(count)
    else { return nil }
    (self.interval, self.count, folder) = (interval, count, String(match.3))
  }

  var text: String { "\(interval.rawValue), keep \(count), to \(folder)" }

  // MARK: Files

  private static let prefix = "pushgateway-"
  private static let suffix = ".backup"

  /// Returns the name of a backup that is made at a time, in seconds since 1970. The name contains the time in UTC,
  /// so that names sort by time.
  static func name(at time: Int64) -> String {
    prefix + Timestamp.text(seconds: time, .compact) + suffix
  }

  /// Returns the time of the backup with this name, in seconds since 1970; nil for the name of another file.
  static func time(of name: String) -> Int64? {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
    return Timestamp.read(name.dropFirst(prefix.count).dropLast(suffix.count).utf8, .compact).map { $0 / 1000 }
  }

  /// Returns true if it is time for a backup: none of these names is from the current interval.
  ///
  /// A name with a future time was created under a wrong clock, and does not count.
  func isDue(at now: Int64, _ names: [String]) -> Bool {
    let beginning = interval.beginning(of: now)
    return !names.compactMap(BackupSchedule.time).contains { (beginning...now).contains($0) }
  }

  /// Returns the backups to delete once a new one exists: all but the newest.
  func surplus(of names: [String]) -> [String] {
    names.filter { BackupSchedule.time(of: $0) != nil }.sorted().dropLast(count)
  }
}

extension SettingType<BackupSchedule> {
  static var backupSchedule: Self {
    SettingType(expected: BackupSchedule.expected, read: { BackupSchedule($0) }, text: \.text)
  }
}
