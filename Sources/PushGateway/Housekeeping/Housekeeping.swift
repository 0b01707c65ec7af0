import Foundation
import Logging
import PushCore
import PushStorage

extension DeliveryLog {
  /// Keeps what the settings say from now on.
  func keep(_ configuration: Configuration) {
    keep(
      retention: Int64(configuration.logRetentionDays) * 86_400, maximumSize: configuration.logMaximumSize?.bytes)
  }
}

/// What a gateway does for the disk it lives on, from time to time: backups, and a look at the room that is left.
final class Housekeeping: Sendable {
  let backups: ScheduledBackups
  let disk: DiskWatch
  /// Saves the gateway into a file, when nobody else does.
  let save: ScheduledBackups.Save

  init(_ configuration: Configuration, logger: Logger, save: @escaping ScheduledBackups.Save) {
    self.save = save
    backups = ScheduledBackups(configuration.backup, logger: logger, save: save)
    disk = DiskWatch(configuration.state, threshold: configuration.diskWarning?.bytes, logger: logger)
  }

  /// What the operator should look at while everything still works.
  var warnings: [HealthProblem] { [backups.problem, disk.warning].compactMap(\.self) }

  /// Takes other settings, which hold from the next look on.
  func configure(_ configuration: Configuration) {
    backups.configure(configuration.backup)
    disk.configure(configuration.diskWarning?.bytes)
  }

  /// Looks at the disk, and begins a backup if one is due, which goes on by itself.
  ///
  /// - Parameter now: seconds since 1970.
  func look(at now: Int64) {
    disk.look(at: now)
    Task { [backups] in await backups.makeIfDue(at: now) }
  }
}
