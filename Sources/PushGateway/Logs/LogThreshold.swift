package import Logging
import Synchronization

/// How bad what is logged has to be: one value for the process, which may be changed while it runs; safe on any thread.
package final class LogThreshold: Sendable {
  private struct State {
    /// What the settings say.
    var configured: Logger.Level
    /// What somebody has asked for in its place.
    var asked: Logger.Level?
    /// Seconds since 1970, when that ends; nil: with the process.
    var end: Int64?
  }

  private let state: Mutex<State>
  private let place: Atomic<Int>

  package init(_ level: Logger.Level) {
    state = Mutex(State(configured: level))
    place = Atomic(LogThreshold.place(of: level))
  }

  /// The level in force: one relaxed load.
  package var level: Logger.Level { Logger.Level.allCases[place.load(ordering: .relaxed)] }

  /// What the settings say, which holds where nothing else was asked for.
  package var configured: Logger.Level { state.withLock { $0.configured } }

  /// When what was asked for ends, in seconds since 1970; nil when nothing ends.
  package var end: Int64? { state.withLock { $0.end } }

  /// Takes what the settings say now.
  package func configure(_ level: Logger.Level) { change { $0.configured = level } }

  /// Takes what the settings say now.
  func configure(_ configuration: Configuration) {
    configure(Logger.Level(rawValue: configuration.logLevel) ?? .info)
  }

  /// Puts a level into force; nil: what the settings say.
  ///
  /// - Parameter end: until when, in seconds since 1970; nil: for as long as the process runs.
  package func ask(for level: Logger.Level?, until end: Int64? = nil) {
    change { ($0.asked, $0.end) = (level, level == nil ? nil : end) }
  }

  /// Ends what was asked for, when its time is over.
  ///
  /// - Returns: whether it ended now.
  package func settle(at now: Int64) -> Bool {
    change { state in
      guard let end = state.end, now >= end else { return false }
      (state.asked, state.end) = (nil, nil)
      return true
    }
  }

  private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in
      defer { place.store(LogThreshold.place(of: state.asked ?? state.configured), ordering: .relaxed) }
      return body(&state)
    }
  }

  private static func place(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }
}
