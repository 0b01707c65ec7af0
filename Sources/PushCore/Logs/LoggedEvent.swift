package import Logging

/// Everything that a gateway logs: a row is an event, by whose name an operator finds it in docs/log-events.md.
///
/// A name never changes, so that an alert on it goes on working; what is said with it may.
package enum LoggedEvent: String, Sendable, CaseIterable {
  // What must not happen.
  case pushesLost = "pushes-lost"
  case pushDamaged = "push-damaged"
  case databaseReplaced = "database-replaced"
  case gatewayEnds = "gateway-ends"
  // What can't be done now.
  case notStored = "not-stored"
  case digestsNotStored = "digests-not-stored"
  case deliveryLogDamaged = "delivery-log-damaged"
  case deliveryLogDeleted = "delivery-log-deleted"
  case eventsNotLogged = "events-not-logged"
  case backupFailed = "backup-failed"
  case requestFailed = "request-failed"
  case broadcastFailed = "broadcast-failed"
  case faultFailed = "fault-failed"
  case certificateUnusable = "certificate-unusable"
  case certificateNotRenewed = "certificate-not-renewed"
  case settingsRefused = "settings-refused"
  case restartRefused = "restart-refused"
  // What should be looked at.
  case diskFull = "disk-full"
  case diskLow = "disk-low"
  case walNotMoved = "wal-not-moved"
  case channelProgressNotStored = "channel-progress-not-stored"
  case broadcastsNotRemoved = "broadcasts-not-removed"
  case presenceNotStored = "presence-not-stored"
  case deliveryLogOverrun = "delivery-log-overrun"
  case linesDropped = "log-lines-dropped"
  case limitMet = "limit-met"
  case deviceBudgetMet = "device-budget-met"
  case gatewayNotAnnounced = "gateway-not-announced"
  case httpUnavailable = "http-unavailable"
  case libraryUntested = "library-untested"
  case variableUnknown = "variable-unknown"
  case appsOfNoTeam = "apps-of-no-team"
  case runsAsRoot = "runs-as-root"
  case upgradeNotSaved = "upgrade-not-saved"
  case cellSnapshotNotStored = "cell-snapshot-not-stored"
  case cellUpgraded = "cell-upgraded"
  case cellMessageUnreadable = "cell-message-unreadable"
  case cellEntryUnreadable = "cell-entry-unreadable"
  case brokerLeft = "broker-left"
  case gatewayCutOff = "gateway-cut-off"
  case brokersAwaited = "brokers-awaited"
  case collapsedPushStays = "collapsed-push-stays"
  // What somebody did, or what is over.
  case stateFolderNarrowed = "state-folder-narrowed"
  case eventsLoggedAgain = "events-logged-again"
  case diskEnough = "disk-enough"
  case gatewayBack = "gateway-back"
  case backupMade = "backup-made"
  case upgradeSaved = "upgrade-saved"
  case certificateReplaced = "certificate-replaced"
  case certificateRenewed = "certificate-renewed"
  case settingsRead = "settings-read"
  case logLevelChanged = "log-level-changed"
  case clientCertificateRefused = "client-certificate-refused"
  case faultSet = "fault-set"
  case faultsRemoved = "faults-removed"
  case faultStruck = "fault-struck"
  // What each push does.
  case push
  case broadcastHandedOut = "broadcast-handed-out"

  /// Of what level it is.
  package var level: Logger.Level { row.level }
  /// What has happened, in a sentence.
  package var meaning: String { row.meaning }
  /// What the operator is to do; empty where there is nothing to do.
  package var advice: String { row.advice }
  /// The field that tells apart what repeats: of each of its values so many are told a minute.
  package var key: String? { row.key }
}
