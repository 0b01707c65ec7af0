import Dispatch
import Foundation
import Logging
import PushCore
import Synchronization

/// Writes the log on a separate thread, so that a slow reader of the log does not block a thread that logs.
///
/// At most ``Limits/maximumWaitingLogLines`` lines are queued; further lines are dropped and counted. Repeated events
/// are written ``Limits/maximumRepeatedLines`` times per minute, then summarized with their count; `debug` and `trace`
/// are never summarized.
final class LogWriter: Sendable {
  /// The key by which events count as repeated.
  private struct Kind: Hashable {
    var event: String
    var key: String
  }

  private struct State {
    var waiting: [LogEntry] = []
    var dropped = 0
    var isAwake = false
    var gate = LogRateLimiter<Kind>(count: Limits.maximumRepeatedLines, interval: Limits.limitLogInterval)
    /// The latest suppressed entry of each kind.
    var suppressed: [Kind: LogEntry] = [:]
    var flushes: [DispatchSemaphore] = []
  }

  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)
  private let output: @Sendable (LogEntry) -> Void
  private let now: @Sendable () -> Int64
  private let criticalTime: DispatchTimeInterval

  /// - Parameters:
  ///   - now: returns milliseconds since 1970.
  ///   - criticalTime: the maximum time that ``write(_:)`` waits until a critical entry is written.
  ///   - output: writes one entry; called on one thread, which it may block.
  init(
    now: @escaping @Sendable () -> Int64, criticalTime: DispatchTimeInterval = .seconds(1),
    output: @escaping @Sendable (LogEntry) -> Void
  ) {
    (self.now, self.criticalTime, self.output) = (now, criticalTime, output)
    let thread = Thread { [self] in run() }
    thread.name = "log"
    thread.start()
  }

  /// Queues an entry. For a critical entry, returns when it is written or after `criticalTime`, because the process may
  /// be about to end.
  func write(_ entry: LogEntry) {
    let mustWake = state.withLock { state -> Bool in
      let (summary, isWritten) = LogWriter.filtered(entry, &state)
      if let summary { LogWriter.append(summary, to: &state) }
      if isWritten { LogWriter.append(entry, to: &state) }
      defer { state.isAwake = true }
      return !state.isAwake
    }
    if mustWake { wake.signal() }
    if entry.level >= .critical { flush(within: criticalTime) }
  }

  /// Returns when all entries so far are written or when `time` has passed, because the reader of the log can block.
  func flush(within time: DispatchTimeInterval) {
    let done = DispatchSemaphore(value: 0)
    state.withLock { state in
      state.flushes.append(done)
      state.isAwake = true
    }
    wake.signal()
    _ = done.wait(timeout: .now() + time)
  }

  /// Returns the entries to write for a new entry.
  ///
  /// - Returns: a summary of earlier suppressed entries of the same kind, and true if the entry itself is to be
  ///   written.
  private static func filtered(_ entry: LogEntry, _ state: inout State) -> (LogEntry?, Bool) {
    guard entry.level >= .info, let event = entry.event else { return (nil, true) }
    let name = LoggedEvent(rawValue: event)?.key
    let kind = Kind(event: event, key: entry.fields.first { $0.name == name }?.value ?? "")
    guard let skipped = state.gate.note(kind, at: entry.at / 1000) else {
      state.suppressed[kind] = entry
      return (nil, false)
    }
    let last = state.suppressed.removeValue(forKey: kind)
    return (skipped == 0 ? nil : last.map { $0.repeated(skipped, at: entry.at) }, true)
  }

  private static func append(_ entry: LogEntry, to state: inout State) {
    if state.waiting.count < Limits.maximumWaitingLogLines {
      state.waiting.append(entry)
    } else {
      state.dropped += 1
    }
  }

  private func run() {
    while true {
      let (entries, dropped, flushes, hasSuppressed) = state.withLock { state in
        let suppressed = state.gate.takeSkipped(at: now() / 1000)
        for (kind, count) in suppressed {
          if let kind, let last = state.suppressed.removeValue(forKey: kind) {
            LogWriter.append(last.repeated(count, at: now()), to: &state)
          } else {
            state.dropped += count
          }
        }
        if state.gate.hasSkipped == false { state.suppressed = [:] }
        defer {
          (state.waiting, state.dropped, state.flushes) = ([], 0, [])
        }
        if state.waiting.isEmpty, state.dropped == 0, state.flushes.isEmpty { state.isAwake = false }
        return (state.waiting, state.dropped, state.flushes, state.gate.hasSkipped)
      }
      for entry in entries { output(entry) }
      if dropped > 0 { output(LogWriter.lost(dropped, at: now())) }
      for flush in flushes { flush.signal() }
      guard entries.isEmpty, dropped == 0, flushes.isEmpty else { continue }
      // Suppressed entries are summarized at the end of their minute.
      if hasSuppressed { _ = wake.wait(timeout: .now() + 1) } else { wake.wait() }
    }
  }

  private static func lost(_ count: Int, at time: Int64) -> LogEntry {
    let event = LoggedEvent.linesDropped
    return LogEntry(
      at: time, event.level, event: event.rawValue, "lines of the log are missing",
      fields: [.init(name: "lines", value: "\(count)")])
  }
}

extension LogEntry {
  /// Returns the summary of `count` entries, of which this one is the last.
  fileprivate func repeated(_ count: Int, at time: Int64) -> LogEntry {
    var entry = self
    entry.at = time
    entry.message = "repeated \(count) \(count == 1 ? "time" : "times"): \(message)"
    return entry
  }
}
