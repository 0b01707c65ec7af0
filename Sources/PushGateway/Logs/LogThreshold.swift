package import Logging
import Synchronization

/// The minimum level of log messages: one value for the process, which may change while it runs; safe on any thread.
package final class LogThreshold: Sendable {
  private struct State {
    var configured: Logger.Level
    /// A requested level that replaces it.
    var asked: Logger.Level?
    /// The end of the requested level, in seconds since 1970; nil for the end of the process.
    var end: Int64?
    /// The time of the request, in seconds since 1970.
    var begun = Int64.min
  }

  private let state: Mutex<State>
  private let levelIndex: Atomic<Int>

  package init(_ level: Logger.Level) {
    state = Mutex(State(configured: level))
    levelIndex = Atomic(LogThreshold.levelIndex(of: level))
  }

  /// The level in effect: one relaxed load.
  package var level: Logger.Level { Logger.Level.allCases[levelIndex.load(ordering: .relaxed)] }

  /// The level in the settings, in effect unless another one was requested.
  package var configured: Logger.Level { state.withLock { $0.configured } }

  /// The end of a requested level, in seconds since 1970; nil if there is none.
  package var end: Int64? { state.withLock { $0.end } }

  /// Sets the level of the settings.
  package func configure(_ level: Logger.Level) { change { $0.configured = level } }

  /// Sets the level of the settings.
  func configure(_ configuration: Configuration) {
    configure(Logger.Level(rawValue: configuration.logLevel) ?? .info)
  }

  /// Requests a level; nil for the level of the settings.
  ///
  /// - Parameters:
  ///   - end: the end of the request in seconds since 1970; nil for the end of the process.
  ///   - now: the time of the request in seconds since 1970.
  package func ask(for level: Logger.Level?, until end: Int64? = nil, at now: Int64 = .min) {
    change { ($0.asked, $0.end, $0.begun) = (level, level == nil ? nil : end, now) }
  }

  /// Ends an expired request, and one from before the clock was set back: its end is not known.
  ///
  /// - Returns: true if it ended in this call.
  package func settle(at now: Int64) -> Bool {
    change { state in
      guard let end = state.end, now >= end || now < state.begun else { return false }
      (state.asked, state.end) = (nil, nil)
      return true
    }
  }

  private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in
      defer { levelIndex.store(LogThreshold.levelIndex(of: state.asked ?? state.configured), ordering: .relaxed) }
      return body(&state)
    }
  }

  private static func levelIndex(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }
}
