/// Limits equal reports to a number in each interval, and counts the others.
///
/// A value type without a lock. It has at most ``maximumKeys`` keys; reports of further keys are counted together.
package struct LogRateLimiter<Key: Hashable & Sendable>: Sendable {
  private struct Entry {
    /// The start of the interval.
    var begun: Int64
    var logged = 0
    var skipped = 0
  }

  private var entries: [Key: Entry] = [:]
  private let count: Int
  private let interval: Int64
  private let maximumKeys: Int
  /// The number of counted reports of keys beyond ``maximumKeys``.
  private var others = 0

  /// - Parameters:
  ///   - count: the number of reports of each key that are logged in an interval.
  ///   - interval: the length of an interval, in the unit of all times: seconds or milliseconds since 1970.
  package init(count: Int, interval: Int64, maximumKeys: Int = 256) {
    (self.count, self.interval, self.maximumKeys) = (count, interval, maximumKeys)
  }

  /// True if there are counted reports that ``takeSkipped(at:)`` has not returned yet.
  package var hasSkipped: Bool { others > 0 || entries.values.contains { $0.skipped > 0 } }

  /// Decides whether a report of `key` is logged or only counted.
  ///
  /// - Parameter now: the current time; a clock that was set back begins a new interval.
  /// - Returns: the number of earlier reports of this key that were only counted, if this one is logged; nil if it is
  ///   only counted.
  package mutating func note(_ key: Key, at now: Int64) -> Int? {
    if var entry = entries[key], isOpen(entry, at: now) {
      defer { entries[key] = entry }
      if entry.logged < count {
        entry.logged += 1
        return 0
      }
      entry.skipped += 1
      return nil
    }
    if entries[key] == nil, entries.count >= maximumKeys {
      entries = entries.filter { $0.value.skipped > 0 || isOpen($0.value, at: now) }
      if entries.count >= maximumKeys {
        others += 1
        return nil
      }
    }
    let skipped = entries[key]?.skipped ?? 0
    entries[key] = Entry(begun: now, logged: 1)
    return skipped
  }

  /// Removes and returns the numbers of counted reports of ended intervals: one for each key, and nil for all keys
  /// beyond ``maximumKeys``.
  package mutating func takeSkipped(at now: Int64) -> [(key: Key?, count: Int)] {
    let over = entries.filter { !isOpen($0.value, at: now) }
    for key in over.keys { entries[key] = nil }
    var taken: [(key: Key?, count: Int)] = over.filter { $0.value.skipped > 0 }.map { ($0.key, $0.value.skipped) }
    if others > 0, !taken.isEmpty || entries.count < maximumKeys {
      taken.append((nil, others))
      others = 0
    }
    return taken
  }

  private func isOpen(_ entry: Entry, at now: Int64) -> Bool { (0..<interval).contains(now &- entry.begun) }
}
