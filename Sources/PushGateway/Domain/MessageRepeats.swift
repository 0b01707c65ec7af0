import PushCore

/// The equal messages that senders combine (`senders add --combine`), in memory since the start.
struct MessageRepeats {
  struct Key: Hashable {
    /// The name of the sender.
    var sender: String
    /// The SHA-256 hash of the payload.
    var digest: [UInt8]
  }

  /// A message among its equals.
  struct Found: Sendable {
    var key: Key
    /// The collapse id that the equal messages share: the id of the first one.
    var collapseID: String
    /// The number of equal messages up to this one.
    var count: Int
    /// False for a retry, which has the id of the previous message and is not counted.
    var isNew: Bool
  }

  private struct Window {
    var first: APNSID
    /// The time of the first message, and the end of the window, in milliseconds since 1970.
    var time: Range<Int64>
    var last: APNSID
    var count: Int
  }

  private var windows: [Key: Window] = [:]

  /// The number of different messages in memory.
  var size: Int { windows.count }

  /// Counts a message. Its window begins with the first of its equals.
  ///
  /// - Parameters:
  ///   - seconds: the length of the window.
  ///   - now: milliseconds since 1970.
  mutating func add(_ key: Key, id: APNSID, for seconds: Int64, at now: Int64) -> Found {
    var isNew = true
    if var window = windows[key], window.time.contains(now) {
      isNew = window.last != id
      if isNew { (window.last, window.count) = (id, window.count + 1) }
      windows[key] = window
    } else {
      if windows.count >= Limits.maximumMessageRepeats { makeSpace(at: now) }
      windows[key] = Window(first: id, time: now..<now + max(1, seconds) * 1000, last: id, count: 1)
    }
    let window = windows[key]
    return Found(key: key, collapseID: (window?.first ?? id).description, count: window?.count ?? 1, isNew: isNew)
  }

  /// Removes the windows that are over. If more than half of the windows are open, all end early, and the next equal
  /// messages begin others. So this work occurs once in thousands of messages.
  private mutating func makeSpace(at now: Int64) {
    windows = windows.filter { $0.value.time.contains(now) }
    if windows.count > Limits.maximumMessageRepeats / 2 { windows = [:] }
  }

  /// Subtracts a message that was not stored.
  mutating func remove(_ found: Found) {
    guard found.isNew, var window = windows[found.key] else { return }
    window.count -= 1
    windows[found.key] = window.count > 0 ? window : nil
  }
}
