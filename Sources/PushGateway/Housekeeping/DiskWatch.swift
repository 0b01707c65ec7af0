import Glibc
import Logging
import PushCore
import Synchronization

/// Checks the free space on the state folder's disk, and warns before none is left.
final class DiskWatch: Sendable {
  private struct State {
    var threshold: Int64?
    var warning: HealthProblem?
  }

  private let path: String
  private let state: Mutex<State>
  private let logger: Logger
  private let freeSize: @Sendable (String) -> Int64?

  /// The divisor of the threshold that gives the extra space for the end of a warning, so that a temporary file does
  /// not cause repeated log lines.
  private static let slack: Int64 = 8

  /// - Parameters:
  ///   - threshold: the free space in bytes below which to warn; nil for no warning.
  ///   - freeSize: returns the free space of a path's disk, in bytes.
  init(
    _ path: String, threshold: Int64?, logger: Logger,
    freeSize: @escaping @Sendable (String) -> Int64? = DiskWatch.freeSize
  ) {
    (self.path, self.logger, self.freeSize) = (path, logger, freeSize)
    state = Mutex(State(threshold: threshold))
  }

  /// The current warning; nil while there is enough space.
  var warning: HealthProblem? { state.withLock { $0.warning } }

  /// Sets another threshold, which applies from the next check.
  func configure(_ threshold: Int64?) { state.withLock { $0.threshold = threshold } }

  /// Checks the free space, and logs a change of the warning.
  ///
  /// - Parameter now: the current time in seconds since 1970.
  func look(at now: Int64) {
    guard let free = freeSize(path) else { return }
    let change = state.withLock { state -> (event: LoggedEvent, words: String)? in
      guard let threshold = state.threshold else {
        state.warning = nil
        return nil
      }
      let room = "\(ByteSize(free)) free on the disk of \(path)"
      if free < threshold {
        defer {
          state.warning = HealthProblem(
            part: "disk", problem: "only \(room): free some space", since: state.warning?.since ?? now)
        }
        return state.warning == nil
          ? (.diskLow, "only \(room), less than \(ByteSize(threshold)): free some space") : nil
      }
      guard state.warning != nil, free >= threshold + threshold / DiskWatch.slack else { return nil }
      state.warning = nil
      return (.diskEnough, "\(room) again")
    }
    if let change { logger.log(change.event, "\(change.words)") }
  }

  /// Returns the free space for an unprivileged process, in bytes; nil if it can't be read.
  static func freeSize(of path: String) -> Int64? {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return nil }
    let (size, isTooLarge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isTooLarge ? .max : Int64(clamping: size)
  }
}
