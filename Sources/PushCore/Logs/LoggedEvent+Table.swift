import Logging

extension LoggedEvent {
  /// What there is to say of an event.
  struct Row {
    let level: Logger.Level
    let meaning: String
    let advice: String
    let key: String?

    init(_ level: Logger.Level, _ meaning: String, _ advice: String = "", key: String? = nil) {
      (self.level, self.meaning, self.advice, self.key) = (level, meaning, advice, key)
    }
  }

  /// The table.
  var row: Row {
    switch self {
    case .pushesLost:
      Row(
        .critical, "Pushes that were answered 200 are not in the database: the disk lost what it said was written.",
        "Check the disk and its cache (docs/durability.md); restore a backup if the database is older than it should be."
      )
    case .pushDamaged:
      Row(
        .critical, "A push that waited is not as it was written, and is not delivered.",
        "Stop the gateway and run `pushcli doctor --thorough`.")
    case .databaseReplaced:
      Row(
        .critical, "The database was deleted, replaced or damaged while the gateway uses it.",
        "Stop the gateway, put the file back or restore a backup, and start it again.")
    case .gatewayEnds:
      Row(
        .critical, "The gateway ends, since it can't read what it needs.",
        "Do what the message says: mostly `pushcli doctor --thorough`, then a backup.")
    case .notStored:
      Row(
        .error, "Pushes could not be stored, and were answered 503.",
        "Free some space, or mend the disk: senders try again by themselves.")
    case .digestsNotStored:
      Row(.error, "Pushes held for a digest are in memory alone.", "Free some space, or mend the disk.")
    case .deliveryLogDamaged:
      Row(
        .error, "The delivery log was damaged: it is kept under another name, and a new one begun.", "Check the disk.")
    case .deliveryLogDeleted:
      Row(.error, "The delivery log was deleted: a new one is begun.", "Let the gateway trim it: `log_max_size`.")
    case .eventsNotLogged:
      Row(.error, "The delivery log can't be written; pushes are delivered all the same.", "Free some space.")
    case .backupFailed:
      Row(
        .error, "A backup of the schedule was not made.", "Do what the message says; it is tried again in ten minutes.")
    case .requestFailed:
      Row(.error, "A request failed by no fault of whoever asked.", "Report it, if health says nothing of it.")
    case .broadcastFailed: Row(.error, "A broadcast's channel could not be read or written.", "Look at health.")
    case .faultFailed: Row(.error, "An injected fault could not do what it should.", "Look at health.")
    case .certificateUnusable:
      Row(
        .error, "The certificate that was renewed on disk can't be used: the one before stays.",
        "Put a certificate and its key there that fit together.")
    case .certificateNotRenewed:
      Row(
        .error, "The gateway's own certificate is near its end, and could not be renewed.",
        "Do what the message says before it ends: it is tried again every hour.")
    case .settingsRefused:
      Row(
        .error, "The settings could not be read again, and nothing was changed.",
        "Do what the message says: `pushcli config check FILE` says the same.")
    case .restartRefused:
      Row(.error, "The next program could not start: this one goes on.", "Do what the message says, and try again.")
    case .diskFull:
      Row(.warning, "The disk is full: what was set aside is used to deliver what waits.", "Free some space.")
    case .diskLow:
      Row(
        .warning, "Less is free where the state folder is than `disk_warning` says.",
        "Free some space before pushes are refused, or lower `log_max_size`.")
    case .walNotMoved:
      Row(.warning, "The database's write-ahead log could not be moved into it.", "Look at the disk if it repeats.")
    case .channelProgressNotStored:
      Row(.warning, "What devices have of channels was not stored: they may get a message twice.", "Look at the disk.")
    case .broadcastsNotRemoved:
      Row(.warning, "Broadcasts whose time is over stay for now.", "Look at the disk if it repeats.")
    case .presenceNotStored: Row(.warning, "When devices were last connected is not written down.", "Look at the disk.")
    case .deliveryLogOverrun:
      Row(.warning, "More happened than the delivery log could take: some rows are missing.", "Use a faster disk.")
    case .linesDropped:
      Row(
        .warning, "Lines of this log are missing, since whoever reads it did not keep up.",
        "Look at what reads standard error, or raise the level.")
    case .limitMet:
      Row(.warning, "A peer met a limit (docs/limits.md).", "Look at the peer if it repeats.", key: "limit")
    case .deviceBudgetMet: Row(.warning, "A device says more of pushes than is logged.", "Look at the device.")
    case .gatewayNotAnnounced:
      Row(.warning, "Commands on this machine can't find the gateway yet.", "Free some space: it is tried again.")
    case .httpUnavailable:
      Row(
        .warning, "There is no HTTP/1.1 for monitors: no port of loopback could be had.",
        "Say with `http_listen` where it is to be, or `none`.")
    case .libraryUntested:
      Row(.warning, "A library has a version that was not tested.", "Look there first if something is odd.")
    case .variableUnknown: Row(.warning, "A variable begins with PUSHGATEWAY_ and sets nothing.", "Correct its name.")
    case .appsOfNoTeam:
      Row(.warning, "The keys of every team reach some apps.", "`pushcli apps set TOPIC --team TEAMID` for each.")
    case .runsAsRoot: Row(.warning, "The gateway runs as root.", "Name a user of its own with `--user NAME`.")
    case .upgradeNotSaved:
      Row(
        .warning, "No backup was made before a newer version changes the database.",
        "Make one by hand before the next upgrade: `pushcli admin backup FILE`.")
    case .cellSnapshotNotStored:
      Row(
        .warning, "A snapshot of what a cell shares was not stored.",
        "Look at the brokers' room; the next entries of the log bring another.")
    case .cellUpgraded:
      Row(
        .warning, "A gateway of the cell has a later version; what that adds is left out here.",
        "Upgrade this gateway, too: until then it makes no snapshots and no backups of the cell.")
    case .cellMessageUnreadable:
      Row(
        .warning, "A mailbox of the cell has a message that no gateway wrote, and it is passed over.",
        "See that nothing else publishes to the cluster's account.")
    case .cellEntryUnreadable:
      Row(
        .warning, "The log of what a cell shares has an entry that no gateway wrote, and it is passed over.",
        "See that nothing else publishes to the cluster's account.")
    case .brokerLeft:
      Row(
        .warning, "The broker of this gateway is cut off from the others, and another is taken.",
        "Look at the routes between the brokers.")
    case .gatewayCutOff:
      Row(
        .warning, "The gateway reaches no broker while another gateway of the cell does: its devices are sent there.",
        "Look at the network between this machine and the brokers.")
    case .brokersAwaited:
      Row(
        .notice, "The cell's brokers do not answer yet, and the gateway waits for them before it starts.",
        "Start a majority of them, or see `--backend`.")
    case .collapsedPushStays:
      Row(
        .warning, "A push that a later one replaces could not be removed, and may be shown before that one.",
        "Look at the cluster: the brokers did not answer.")
    case .stateFolderNarrowed: Row(.notice, "The state folder was open to others: it is its user's alone now.")
    case .eventsLoggedAgain: Row(.notice, "The delivery log can be written again.")
    case .gatewayBack:
      Row(.notice, "The gateway reaches a broker again, or no other gateway does: it takes devices again.")
    case .diskEnough: Row(.notice, "Enough of the disk is free again.")
    case .upgradeSaved: Row(.notice, "A backup was made before a newer version changes the database.")
    case .certificateRenewed:
      Row(.notice, "The gateway's own certificate was near its end: a new one of the same names is used.")
    case .certificateReplaced: Row(.notice, "A renewed certificate is used from the next connection on.")
    case .settingsRead: Row(.notice, "The settings were read again; some may wait for a restart.")
    case .backupMade: Row(.notice, "A backup of the schedule was made and restored for a test.")
    case .logLevelChanged: Row(.notice, "Another level of this log is in force.")
    case .clientCertificateRefused:
      Row(
        .notice, "A sender's certificate was refused.", "Issue another, or revoke what should not be used.",
        key: "topic")
    case .faultSet: Row(.notice, "A fault is injected from now on.", "Remove it when the test is over.", key: "fault")
    case .faultsRemoved: Row(.notice, "A fault is injected no longer.", key: "fault")
    case .faultStruck: Row(.notice, "An injected fault struck.", key: "fault")
    case .push: Row(.debug, "A push reached a stage: accepted, stored, transmitted, acknowledged, presented, ….")
    case .broadcastHandedOut: Row(.debug, "A broadcast was handed to every stream of its channel.")
    }
  }
}
