import Logging

extension LoggedEvent {
  /// The properties of an event.
  struct Row {
    let level: Logger.Level
    let meaning: String
    let advice: String
    let key: String?

    init(_ level: Logger.Level, _ meaning: String, _ advice: String = "", key: String? = nil) {
      (self.level, self.meaning, self.advice, self.key) = (level, meaning, advice, key)
    }
  }

  /// The table of all events.
  var row: Row {
    switch self {
    case .pushesLost:
      Row(
        .critical, "Pushes that were answered 200 are not in the database: the disk lost writes that it had confirmed.",
        "Check the disk and its cache (docs/concepts/durability.md); restore a backup if the database is too old."
      )
    case .pushDamaged:
      Row(
        .critical, "A stored push failed its checksum and was not delivered.",
        "Stop the gateway and run `pushcli doctor --thorough`.")
    case .databaseReplaced:
      Row(
        .critical, "The database was deleted, replaced or damaged while the gateway used it.",
        "Stop the gateway, put the file back or restore a backup, and start it again.")
    case .gatewayEnds:
      Row(
        .critical, "The gateway stops, because it can't read its data.",
        "Follow the message: usually `pushcli doctor --thorough`, then a backup.")
    case .notStored:
      Row(
        .error, "Pushes could not be stored, and were answered 503.",
        "Free some space, or repair the disk: senders retry automatically.")
    case .digestsNotStored:
      Row(.error, "Pushes deferred to a summary are in memory only.", "Free some space, or repair the disk.")
    case .auditNotStored:
      Row(
        .error, "A part of the audit trail is in memory only: the status of a request, or the record of an enrollment.",
        "Free some space, or repair the disk, before the gateway ends.")
    case .deliveryLogDamaged:
      Row(
        .error, "The delivery log was damaged: it was renamed, and a new one was created.", "Check the disk.")
    case .deliveryLogDeleted:
      Row(.error, "The delivery log was deleted: a new one was created.", "Let the gateway trim it: `log_max_size`.")
    case .eventsNotLogged:
      Row(.error, "The delivery log can't be written; pushes are still delivered.", "Free some space.")
    case .backupFailed:
      Row(
        .error, "A scheduled backup failed.", "Follow the message; the backup is retried in ten minutes.")
    case .requestFailed:
      Row(
        .error, "A request failed because of an error in the gateway.",
        "Run `pushcli doctor`; if it finds no problem, file a bug.")
    case .broadcastFailed: Row(.error, "A broadcast's channel could not be read or written.", "Run `pushcli doctor`.")
    case .faultFailed: Row(.error, "An injected fault could not take its effect.", "Run `pushcli doctor`.")
    case .certificateUnusable:
      Row(
        .error, "The renewed certificate on disk can't be used: the previous one stays in use.",
        "Replace both files with a certificate and its own private key.")
    case .certificateNotRenewed:
      Row(
        .error, "The gateway's own certificate is about to expire and could not be renewed.",
        "Follow the message before the certificate expires: the renewal is retried every hour.")
    case .settingsRefused:
      Row(
        .error, "The settings could not be reloaded and are unchanged.",
        "Correct the setting in the message: `pushcli config check FILE` checks the file.")
    case .restartRefused:
      Row(
        .error, "The next program could not start: the running gateway is unchanged.",
        "Follow the message, and try again.")
    case .diskFull:
      Row(.warning, "The disk is full: the reserve is used to deliver pending pushes.", "Free some space.")
    case .diskLow:
      Row(
        .warning, "The free space on the state folder's disk is below `disk_warning`.",
        "Free some space before pushes are refused, or lower `log_max_size`.")
    case .walNotMoved:
      Row(.warning, "The database's write-ahead log could not be moved into it.", "If this repeats, check the disk.")
    case .channelProgressNotStored:
      Row(
        .warning, "The devices' positions in channels were not stored: they may receive a message twice.",
        "Check the disk.")
    case .broadcastsNotRemoved:
      Row(.warning, "Expired broadcasts could not be removed and are kept for now.", "If this repeats, check the disk.")
    case .presenceNotStored:
      Row(.warning, "The times of the devices' last connections were not stored.", "Check the disk.")
    case .maintenanceFailed:
      Row(
        .warning, "A part of the gateway's periodic work failed; it is repeated.",
        "Follow the message: free some space, or run `pushcli doctor`.", key: "part")
    case .deliveryLogOverrun:
      Row(.warning, "Events exceeded the write rate of the delivery log: some rows are missing.", "Use a faster disk.")
    case .linesDropped:
      Row(
        .warning, "Lines of this log are missing, because its reader was too slow.",
        "Check the reader of standard error, or raise `log_level`.")
    case .limitMet:
      Row(
        .warning, "A peer exceeded a connection limit (docs/reference/limits.md).", "If this repeats, check the peer.",
        key: "limit")
    case .deviceBudgetMet:
      Row(
        .warning, "A device exceeded its report rate; excess reports are dropped.",
        "Check the client for a loop (docs/reference/limits.md).")
    case .gatewayNotAnnounced:
      Row(.warning, "Commands on this machine can't find the gateway yet.", "Free some space: the gateway retries.")
    case .httpUnavailable:
      Row(
        .warning, "HTTP/1.1 for monitors is not available: no loopback port could be bound.",
        "Set `http_listen` to another address, or to `none`.")
    case .libraryUntested:
      Row(.warning, "The version of a library is untested.", "Consider this version first if an error occurs.")
    case .variableUnknown:
      Row(.warning, "A variable begins with PUSHGATEWAY_ and is not the name of a setting.", "Correct its name.")
    case .appsOfNoTeam:
      Row(
        .warning, "Some apps have no team and accept every team's keys.",
        "Run `pushcli apps set TOPIC --team TEAMID` for each.")
    case .runsAsRoot: Row(.warning, "The gateway runs as root.", "Name an unprivileged user with `--user NAME`.")
    case .testGateway:
      Row(
        .warning, "The gateway is a test gateway: it accepts every sender, and its data ends with it.",
        "Start a gateway for real pushes without `--test`.")
    case .upgradeNotSaved:
      Row(
        .warning, "The backup before the database's migration to a newer version failed.",
        "Run `pushcli admin backup FILE` before the next upgrade.")
    case .cellSnapshotNotStored:
      Row(
        .warning, "A snapshot of the cluster's shared data was not stored.",
        "Check the free space of the brokers; the next log entries trigger another snapshot.")
    case .cellUpgraded:
      Row(
        .warning, "Another gateway runs a newer version; its new fields are ignored here.",
        "Upgrade this gateway, too: until then it makes no snapshots and no backups of the cluster.")
    case .cellMessageUnreadable:
      Row(
        .warning, "A mailbox of the cluster has a message that was not written by a gateway; the message is skipped.",
        "Check that only gateways publish to the NATS account.")
    case .cellEntryUnreadable:
      Row(
        .warning,
        "The log of the cluster's shared data has an entry that was not written by a gateway; the entry is skipped.",
        "Check that only gateways publish to the NATS account.")
    case .brokerLeft:
      Row(
        .warning, "The broker of this gateway is cut off from the others; the gateway connects to another.",
        "Check the routes between the brokers.")
    case .gatewayCutOff:
      Row(
        .warning,
        "The gateway reaches no broker while another gateway does: its devices are redirected to that gateway.",
        "Check the network between this machine and the brokers.")
    case .brokersAwaited:
      Row(
        .notice, "The brokers do not answer yet: the gateway waits for them before it starts.",
        "Start a majority of them, or check `--backend`. With `nats_monitors`, all monitoring ports must answer.")
    case .collapsedPushStays:
      Row(
        .warning, "A push that a later one replaces could not be removed and may be shown before the later one.",
        "Check the NATS cluster: the brokers did not answer.")
    case .eventTargetFailing:
      Row(
        .warning, "An event target does not accept the events of the delivery log; they are sent again.",
        "Run `pushcli event-targets test NAME`, and correct its server or its address.", key: "target")
    case .eventTargetDisabled:
      Row(
        .warning, "An event target answered 410, and gets no more events.",
        "Run `pushcli event-targets remove NAME`, or `resume NAME`.", key: "target")
    case .eventsSkipped:
      Row(
        .warning, "The delivery log removed events before an event target accepted them.",
        "Correct the server of the target, or raise `log_retention_days` and `log_max_size`.", key: "target")
    case .pushServiceFailing:
      Row(
        .warning, "A push service of a browser does not accept messages about closed pages; they are sent again.",
        "Check the internet connection of this machine, and the setting `push_services`.", key: "service")
    case .pushServiceRefuses:
      Row(
        .warning, "A push service refused a message to a closed page; the device gets no more until it subscribes.",
        "Check the setting `push_contact` and the clock, then turn the switch in the page's settings off and on.",
        key: "device")
    case .sendingDelayed:
      Row(
        .warning,
        "An error in the gateway delays the events for an event target or the messages about closed pages; both are sent later.",
        "Follow the message: free some space, or run `pushcli doctor`.", key: "target")
    case .upstreamLost:
      Row(
        .warning, "The upstream can't be reached: pushes for its device tokens are answered 503.",
        "Check `upstream`, `upstream_ca` and the network; the gateway tries again at intervals of at most 30 seconds.")
    case .certificateNotForwarded:
      Row(
        .warning, "A sender with a certificate sent a push for the upstream, which needs a provider token.",
        "Give the sender a key: its certificate can't be used on another connection.")
    case .stateFolderNarrowed:
      Row(.notice, "The state folder was accessible to other users: access is now limited to its user.")
    case .eventsLoggedAgain: Row(.notice, "The delivery log can be written again.")
    case .pushSubscriptionEnded:
      Row(
        .notice, "The subscription of a browser has ended at its push service; its open page subscribes again.",
        key: "device")
    case .appSummarized:
      Row(
        .notice, "Many recipients reported an app as advertising: its alerts go to the summary of each recipient.",
        "Check `pushcli ads standing`; `pushcli ads appeal TOPIC` ends it.")
    case .eventTargetBack: Row(.notice, "An event target accepts events again.", key: "target")
    case .upstreamBack: Row(.notice, "The upstream can be reached again.")
    case .gatewayBack:
      Row(.notice, "The gateway reaches a broker again, or no other gateway does: it accepts devices again.")
    case .diskEnough: Row(.notice, "The disk has enough free space again.")
    case .upgradeSaved: Row(.notice, "A backup was made before the database's migration to a newer version.")
    case .certificateRenewed:
      Row(.notice, "The gateway's own certificate was about to expire and was renewed with the same names.")
    case .certificateReplaced: Row(.notice, "New connections use a renewed certificate.")
    case .settingsRead: Row(.notice, "The settings were reloaded; some may need a restart.")
    case .backupMade: Row(.notice, "A scheduled backup was made and restored as a test.")
    case .logLevelChanged: Row(.notice, "The level of this log has changed.")
    case .clientCertificateRefused:
      Row(
        .notice, "A sender's certificate was refused.", "Issue another, or revoke it.",
        key: "topic")
    case .faultSet:
      Row(.notice, "A fault was set and is injected from now on.", "Remove it when the test is over.", key: "fault")
    case .faultsRemoved: Row(.notice, "A fault was removed.", key: "fault")
    case .faultInjected: Row(.notice, "A fault was injected.", key: "fault")
    case .push: Row(.debug, "A push reached a stage: accepted, stored, transmitted, acknowledged, presented, ….")
    case .broadcastHandedOut: Row(.debug, "A broadcast was handed to every stream of its channel.")
    }
  }
}
