import PushCore

/// The dependencies of each use case, taken from ``Services``: they are assembled only in this file.

extension AnnounceChanges {
  init(_ services: Services) {
    self.init(
      preferences: AnnouncePreferences(services), router: services.router, conditions: services.conditions,
      histories: services.histories)
  }
}

extension AnnouncePreferences {
  init(_ services: Services) {
    self.init(registrations: services.registrations, router: services.router, digests: Summaries(services))
  }
}

extension AnswerPush {
  init(_ services: Services) {
    self.init(
      registrations: services.registrations, answers: services.answers, log: services.log, retract: Retract(services),
      mailbox: services.mailbox)
  }
}

extension ChangePreferences {
  init(_ services: Services) { self.init(registrations: services.registrations, log: EraseLog(services)) }
}

extension CheckHealth {
  init(_ services: Services) {
    self.init(
      backend: services.backend, log: services.log, schedule: services.schedule, housekeeping: services.housekeeping)
  }
}

extension CheckReadiness {
  init(_ services: Services) { self.init(mailbox: services.mailbox, lifecycle: services.lifecycle) }
}

extension CreateKey {
  init(_ services: Services) { self.init(registrations: services.registrations) }
}

extension CellPresence {
  init(_ services: Services) {
    self.init(
      router: services.router, conditions: services.conditions, liveChannels: services.liveChannels,
      mailbox: services.mailbox, cell: services.backend.cell)
  }
}

extension Summaries {
  init(_ services: Services) {
    self.init(
      registrations: services.registrations, mailbox: services.mailbox, held: services.held, router: services.router,
      log: services.log, clock: services.clock)
  }
}

extension Enroll {
  init(_ services: Services) {
    self.init(registrations: services.registrations, policy: services.enrollment, clock: services.clock)
  }
}

extension EraseLog {
  init(_ services: Services) { self.init(log: services.log, cell: services.backend.cell) }
}

extension AlertHandover {
  init(_ services: Services) { self.init(conditions: services.conditions, clock: services.clock) }
}

extension FindSentPush {
  init(_ services: Services) {
    self.init(
      histories: services.histories, elsewhere: services.sentElsewhere, mailbox: services.mailbox,
      channels: services.channels, log: services.log,
      cell: services.backend.cell)
  }
}

extension JoinChannel {
  init(_ services: Services) {
    self.init(
      registrations: services.registrations, channels: services.channels, manage: ManageChannels(services),
      register: Register(services), remove: RemovePerson(services), clock: services.clock)
  }
}

extension ListAdReports {
  init(_ services: Services) { self.init(registrations: services.registrations) }
}

extension LogSearch {
  init(_ services: Services, for reader: DeviceID? = nil) {
    self.init(
      log: services.log, registrations: services.registrations, reader: reader, groups: services.groups,
      cell: services.backend.cell)
  }
}

extension ManageChannels {
  init(_ services: Services) {
    self.init(
      registrations: services.registrations, channels: services.channels, router: services.router,
      clock: services.clock)
  }
}

extension PutApp {
  init(_ services: Services) { self.init(registrations: services.registrations) }
}

extension Register {
  init(_ services: Services) { self.init(registrations: services.registrations, clock: services.clock) }
}

extension RemoveApp {
  init(_ services: Services) {
    self.init(
      registrations: services.registrations, mailbox: services.mailbox, held: services.held,
      schedule: services.schedule, channels: services.channels, manageChannels: ManageChannels(services),
      groups: services.groups, answers: services.answers, retractions: services.retractions, clock: services.clock)
  }
}

extension RemoveBatch {
  init(_ services: Services) {
    self.init(
      registrations: services.registrations, mailbox: services.mailbox, schedule: services.schedule,
      channels: services.channels, groups: services.groups)
  }
}

extension RemoveDevice {
  init(_ services: Services) {
    self.init(
      registrations: services.registrations, mailbox: services.mailbox, held: services.held,
      schedule: services.schedule, channels: services.channels, clock: services.clock)
  }
}

extension RemovePerson {
  init(_ services: Services) {
    self.init(
      registrations: services.registrations, mailbox: services.mailbox, held: services.held, answers: services.answers,
      retractions: services.retractions, groups: services.groups, log: EraseLog(services),
      remove: RemoveDevice(services))
  }
}

extension ReportAd {
  init(_ services: Services) {
    self.init(registrations: services.registrations, find: FindSentPush(services), clock: services.clock)
  }
}

extension RestoreAnswers {
  init(_ services: Services) {
    self.init(
      answers: services.answers, answerPush: AnswerPush(services), log: services.log, clock: services.clock)
  }
}

extension Retract {
  init(_ services: Services) {
    self.init(registrations: services.registrations, held: services.held, router: services.router)
  }
}

extension RestoreRetractions {
  init(_ services: Services) {
    self.init(registrations: services.registrations, held: services.held, retractions: services.retractions)
  }
}

extension TakeBack {
  init(_ services: Services) {
    self.init(
      registrations: services.registrations, mailbox: services.mailbox, held: services.held,
      schedule: services.schedule, retractions: services.retractions, groups: services.groups, log: services.log,
      router: services.router,
      clock: services.clock, cell: services.backend.cell)
  }
}

extension Unregister {
  init(_ services: Services) {
    self.init(
      registrations: services.registrations, mailbox: services.mailbox, held: services.held,
      schedule: services.schedule, channels: services.channels, router: services.router, clock: services.clock)
  }
}
