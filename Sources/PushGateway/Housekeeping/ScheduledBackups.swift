import Foundation
import Logging
import PushCore
import PushStorage
import Synchronization

/// Makes the backups of a schedule: writes one, restores it into a temporary folder as a test, and only then removes
/// the oldest.
final class ScheduledBackups: Sendable {
  /// Saves the gateway to a file.
  typealias Save = @Sendable (String) async throws -> Backup.Summary

  private struct State {
    var schedule: BackupSchedule?
    var isUnderWay = false
    /// The earliest time of the next attempt after a failure, in seconds since 1970.
    var nextAttempt: Int64 = 0
    var problem: HealthProblem?
    var made = 0
    var failed = 0
  }

  private let state: Mutex<State>
  private let save: Save
  private let logger: Logger

  /// The time between a failure and the next attempt, in seconds.
  private static let pause: Int64 = 600
  private static let draftPrefix = "pushgateway-restored-"

  init(_ schedule: BackupSchedule?, logger: Logger, save: @escaping Save) {
    state = Mutex(State(schedule: schedule))
    (self.logger, self.save) = (logger, save)
  }

  /// The error of the last backup; nil if it succeeded, or if none is scheduled.
  var problem: HealthProblem? { state.withLock { $0.problem } }
  /// The numbers of backups that succeeded and failed since the start.
  var counts: (made: Int, failed: Int) { state.withLock { ($0.made, $0.failed) } }

  /// Applies another schedule, from the next check.
  func configure(_ schedule: BackupSchedule?) {
    state.withLock { state in
      if state.schedule != schedule { (state.schedule, state.nextAttempt, state.problem) = (schedule, 0, nil) }
    }
  }

  /// Makes a backup if its time has come, and returns when it is complete. Only one runs at a time: a concurrent call
  /// makes none.
  ///
  /// - Parameter now: the current time in seconds since 1970.
  func makeIfDue(at now: Int64) async {
    let begun = state.withLock { state -> BackupSchedule? in
      // A longer wait is one from before the clock was set back.
      let isPaused = (1...ScheduledBackups.pause).contains(state.nextAttempt - now)
      guard let schedule = state.schedule, !state.isUnderWay, !isPaused else { return nil }
      guard schedule.isDue(at: now, ScheduledBackups.names(in: schedule.folder)) else { return nil }
      state.isUnderWay = true
      return schedule
    }
    guard let begun else { return }
    do {
      let path = try await make(begun, at: now)
      state.withLock { state in
        (state.isUnderWay, state.problem) = (false, nil)
        state.made += 1
      }
      logger.log(.backupMade, "a backup was made and can be restored", metadata: ["path": "\(path)"])
    } catch {
      let problem = HealthProblem(part: "backup", problem: "the scheduled backup failed: \(error)", since: now)
      state.withLock { state in
        state.isUnderWay = false
        state.nextAttempt = now + ScheduledBackups.pause
        state.problem =
          state.problem.map { HealthProblem(part: $0.part, problem: problem.problem, since: $0.since) }
          ?? problem
        state.failed += 1
      }
      logger.log(.backupFailed, "\(problem.problem)")
    }
  }

  private func make(_ schedule: BackupSchedule, at now: Int64) async throws -> String {
    let folder = schedule.folder
    do {
      try PrivateFile.createFolder(folder)
    } catch {
      throw StoreError("\(folder) can't be made (\(error)): name a folder that the gateway may write to")
    }
    ScheduledBackups.removeDrafts(in: folder)
    let path = folder + "/" + BackupSchedule.name(at: now)
    _ = try await save(path)
    do {
      try await ScheduledBackups.verify(path, at: now)
    } catch {
      // A backup that can't be restored must not count as one.
      try? FileManager.default.removeItem(atPath: path)
      throw error
    }
    for name in schedule.surplus(of: ScheduledBackups.names(in: folder)) where folder + "/" + name != path {
      try? FileManager.default.removeItem(atPath: folder + "/" + name)
    }
    return path
  }

  /// Restores a backup into a folder next to it, which is then removed.
  private static func verify(_ path: String, at now: Int64) async throws {
    let draft = (path as NSString).deletingLastPathComponent + "/" + draftPrefix + "\(now)"
    defer { try? FileManager.default.removeItem(atPath: draft) }
    // It reads every page, on a separate thread, since that may take long.
    try await Task.detached { _ = try Backup.restore(path, into: StateFolder(draft)) }.value
  }

  /// Removes the temporary folders of a gateway that was killed.
  private static func removeDrafts(in folder: String) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasPrefix(draftPrefix) {
      try? FileManager.default.removeItem(atPath: folder + "/" + name)
    }
  }

  private static func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }
}
