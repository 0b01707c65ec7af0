package import Logging

/// All events that a gateway logs, one row each. Operators find an event by its name in docs/reference/log-events.md.
///
/// A name never changes, so that alerts on it continue to work. The message of an event may change.
package enum LoggedEvent: String, Sendable, CaseIterable {
  // Critical: events that must not happen.
  case pushesLost = "pushes-lost"
  case pushDamaged = "push-damaged"
  case databaseReplaced = "database-replaced"
  case gatewayEnds = "gateway-ends"
  // Errors: operations that fail now.
  case notStored = "not-stored"
  case digestsNotStored = "digests-not-stored"
  case auditNotStored = "audit-not-stored"
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
  // Warnings: conditions that the operator should check.
  case diskFull = "disk-full"
  case diskLow = "disk-low"
  case walNotMoved = "wal-not-moved"
  case channelProgressNotStored = "channel-progress-not-stored"
  case broadcastsNotRemoved = "broadcasts-not-removed"
  case presenceNotStored = "presence-not-stored"
  case maintenanceFailed = "maintenance-failed"
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
  case testGateway = "test-gateway"
  case upgradeNotSaved = "upgrade-not-saved"
  case cellSnapshotNotStored = "cell-snapshot-not-stored"
  case cellUpgraded = "cell-upgraded"
  case cellMessageUnreadable = "cell-message-unreadable"
  case cellEntryUnreadable = "cell-entry-unreadable"
  case brokerLeft = "broker-left"
  case gatewayCutOff = "gateway-cut-off"
  case brokersAwaited = "brokers-awaited"
  case collapsedPushStays = "collapsed-push-stays"
  case eventTargetFailing = "event-target-failing"
  case eventTargetDisabled = "event-target-disabled"
  case eventsSkipped = "events-skipped"
  case pushServiceFailing = "push-service-failing"
  case pushServiceRefuses = "push-service-refuses"
  case sendingDelayed = "sending-delayed"
  case upstreamLost = "upstream-lost"
  case certificateNotForwarded = "certificate-not-forwarded"
  // Notices: actions of users and operators, and problems that have ended.
  case stateFolderNarrowed = "state-folder-narrowed"
  case eventsLoggedAgain = "events-logged-again"
  case eventTargetBack = "event-target-back"
  case appSummarized = "app-summarized"
  case pushSubscriptionEnded = "push-subscription-ended"
  case diskEnough = "disk-enough"
  case gatewayBack = "gateway-back"
  case upstreamBack = "upstream-back"
  case backupMade = "backup-made"
  case upgradeSaved = "upgrade-saved"
  case certificateReplaced = "certificate-replaced"
  case certificateRenewed = "certificate-renewed"
  case settingsRead = "settings-read"
  case logLevelChanged = "log-level-changed"
  case clientCertificateRefused = "client-certificate-refused"
  case faultSet = "fault-set"
  case faultsRemoved = "faults-removed"
  case faultInjected = "fault-struck"
  // Debug: the stages of each push.
  case push
  case broadcastHandedOut = "broadcast-handed-out"

  package var level: Logger.Level { row.level }
  /// The meaning of the event, in one sentence.
  package var meaning: String { row.meaning }
  /// The recommended action of the operator; empty if none is needed.
  package var advice: String { row.advice }
  /// The metadata field whose values are rate-limited separately: a number of lines per minute for each value.
  package var key: String? { row.key }
}
