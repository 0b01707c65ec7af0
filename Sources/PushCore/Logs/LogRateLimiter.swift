/// Which of many equal reports are told: so many in an interval, and of the others how many there were.
///
/// A value, for whoever locks it. It remembers at most ``maximumKeys``; what comes with more is counted together.
package struct LogRateLimiter<Key: Hashable & Sendable>: Sendable {
  /// What is to be done with a report.
  package enum Verdict: Equatable, Sendable {
    /// It is told, and that so many like it were not.
    case told(untold: Int)
    /// It is counted.
    case counted
  }

  private struct Entry {
    /// Seconds since 1970, when the interval began.
    var begun: Int64
    var told = 0
    var untold = 0
  }

  private var entries: [Key: Entry] = [:]
  private let count: Int
  private let interval: Int64
  private let maximumKeys: Int
  /// How many were not told of keys that there was no room for.
  private var others = 0

  /// - Parameters:
  ///   - count: how many are told of each key in an interval.
  ///   - interval: in seconds.
  package init(count: Int, interval: Int64, maximumKeys: Int = 256) {
    (self.count, self.interval, self.maximumKeys) = (count, interval, maximumKeys)
  }

  /// Whether something was not told yet.
  package var hasUntold: Bool { others > 0 || entries.values.contains { $0.untold > 0 } }

  /// - Parameter now: seconds since 1970; a clock that was set back begins a new interval.
  package mutating func note(_ key: Key, at now: Int64) -> Verdict {
    if var entry = entries[key], isOpen(entry, at: now) {
      defer { entries[key] = entry }
      if entry.told < count {
        entry.told += 1
        return .told(untold: 0)
      }
      entry.untold += 1
      return .counted
    }
    if entries[key] == nil, entries.count >= maximumKeys {
      entries = entries.filter { $0.value.untold > 0 || isOpen($0.value, at: now) }
      if entries.count >= maximumKeys {
        others += 1
        return .counted
      }
    }
    let untold = entries[key]?.untold ?? 0
    entries[key] = Entry(begun: now, told: 1)
    return .told(untold: untold)
  }

  /// Takes what was not told in intervals that are over: how many of each key, and of keys there was no room for (nil).
  package mutating func takeUntold(at now: Int64) -> [(key: Key?, count: Int)] {
    let over = entries.filter { !isOpen($0.value, at: now) }
    for key in over.keys { entries[key] = nil }
    var taken: [(key: Key?, count: Int)] = over.filter { $0.value.untold > 0 }.map { ($0.key, $0.value.untold) }
    if others > 0, !taken.isEmpty || entries.count < maximumKeys {
      taken.append((nil, others))
      others = 0
    }
    return taken
  }

  private func isOpen(_ entry: Entry, at now: Int64) -> Bool { (0..<interval).contains(now &- entry.begun) }
}
