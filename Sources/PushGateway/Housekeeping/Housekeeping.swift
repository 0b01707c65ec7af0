import Foundation
import Logging
import PushCore
import PushStorage

extension DeliveryLog {
  /// Applies the retention settings.
  func keep(_ configuration: Configuration) {
    keep(
      retention: Int64(configuration.logRetentionDays) * 86_400, maximumSize: configuration.logMaximumSize?.bytes)
  }
}

/// The periodic maintenance of a gateway's disk: backups, and checks of the free space.
final class Housekeeping: Sendable {
  let backups: ScheduledBackups
  let disk: DiskWatch
  /// Saves the gateway to a file, after any backup in progress.
  let save: ScheduledBackups.Save

  init(_ configuration: Configuration, logger: Logger, save: @escaping ScheduledBackups.Save) {
    self.save = save
    backups = ScheduledBackups(configuration.backup, logger: logger, save: save)
    disk = DiskWatch(configuration.state, threshold: configuration.diskWarning?.bytes, logger: logger)
  }

  /// The warnings for the operator while everything still works.
  var warnings: [HealthProblem] { [backups.problem, disk.warning].compactMap(\.self) }

  /// Applies other settings, from the next check.
  func configure(_ configuration: Configuration) {
    backups.configure(configuration.backup)
    disk.configure(configuration.diskWarning?.bytes)
  }

  /// Checks the disk, and starts a scheduled backup in the background if its time has come.
  ///
  /// - Parameter now: the current time in seconds since 1970.
  func look(at now: Int64) {
    disk.look(at: now)
    Task { [backups] in await backups.makeIfDue(at: now) }
  }
}
