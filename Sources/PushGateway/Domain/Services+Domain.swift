import PushCore

/// The domain types, with their dependencies from ``Services``.
extension Services {
  var logQueries: LogQueries {
    LogQueries(log: log, registrations: registrations, groups: groups, cell: backend.cell)
  }

  var summaries: Summaries {
    Summaries(
      registrations: registrations, mailbox: mailbox, held: held, router: router, log: log, clock: clock)
  }

  var pushes: Pushes {
    Pushes(
      registrations: registrations, mailbox: mailbox, held: held, schedule: schedule, retractions: retractions,
      groups: groups, answers: answers, channels: channels, histories: histories, sentElsewhere: sentElsewhere,
      log: log, router: router, clock: clock, cell: backend.cell)
  }

  var devices: Devices {
    Devices(
      registrations: registrations, mailbox: mailbox, held: held, schedule: schedule, channels: channels,
      groups: groups, answers: answers, retractions: retractions, conditions: conditions, histories: histories,
      summaries: summaries, logQueries: logQueries, router: router, clock: clock, policy: enrollment)
  }

  var broadcasts: Broadcasts {
    Broadcasts(registrations: registrations, channels: channels, devices: devices, router: router, clock: clock)
  }

  var apps: Apps {
    Apps(
      registrations: registrations, mailbox: mailbox, held: held, schedule: schedule, channels: channels,
      broadcasts: broadcasts, groups: groups, answers: answers, retractions: retractions, clock: clock)
  }

  var cellPresence: CellPresence {
    CellPresence(
      router: router, conditions: conditions, liveChannels: liveChannels, mailbox: mailbox, cell: backend.cell)
  }
}
