import Glibc
import Logging
import PushCore
import Synchronization

/// Looks how much room the state folder's disk has left, and says so before there is none.
final class DiskWatch: Sendable {
  private struct State {
    var threshold: Int64?
    var warning: HealthProblem?
  }

  private let path: String
  private let state: Mutex<State>
  private let logger: Logger
  private let freeSize: @Sendable (String) -> Int64?

  /// Where it is enough again: so much more than the threshold, as a share of it, so that no file that comes and goes makes
  /// a line each time.
  private static let slack: Int64 = 8

  /// - Parameters:
  ///   - threshold: in bytes; nil: nobody is warned.
  ///   - freeSize: the room that a path's disk has left, in bytes.
  init(
    _ path: String, threshold: Int64?, logger: Logger,
    freeSize: @escaping @Sendable (String) -> Int64? = DiskWatch.freeSize
  ) {
    (self.path, self.logger, self.freeSize) = (path, logger, freeSize)
    state = Mutex(State(threshold: threshold))
  }

  /// What there is to say; nil while enough is left.
  var warning: HealthProblem? { state.withLock { $0.warning } }

  /// Takes another threshold, which holds from the next look on.
  func configure(_ threshold: Int64?) { state.withLock { $0.threshold = threshold } }

  /// - Parameter now: seconds since 1970.
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

  /// The room that is left to a program without privileges, in bytes; nil where it can't be asked.
  static func freeSize(of path: String) -> Int64? {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return nil }
    let (size, isTooLarge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isTooLarge ? .max : Int64(clamping: size)
  }
}
