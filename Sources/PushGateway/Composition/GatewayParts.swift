import Logging
import PushCore
import PushStorage
import Synchronization

/// The parts of a gateway that all event loops share, built from its settings, its storage and its clock. Each is safe
/// to use on any thread.
///
/// The hot path reads them through ``LoopParts``. Other APIs take the parts that they need.
final class GatewayParts: Sendable {
  let backend: GatewayBackend
  let log: DeliveryLog
  let clock: WallClock
  /// The default environment of listeners and of devices that register.
  let environment: Environment
  let provider: ProviderSettings
  let held: DeferredPushes
  let channels: Channels
  let groups: Groups
  let answers: Answers
  /// The audit trail of administrators' requests.
  let audit: AuditTrail
  let retractions: Retractions
  /// The settings and limits of remote administration.
  let remote: RemoteAdministration
  /// The senders of messages, with their rates.
  let messages: MessageAccess
  /// The Web Push endpoints of devices.
  let endpoints: WebPushEndpoints
  /// The attachments of messages.
  let attachments: Attachments
  /// The pushes that are scheduled for a later time.
  let schedule: Schedule
  /// The senders of events to event targets.
  let events: EventSenders
  /// The messages to closed pages of devices in browsers.
  let pages: ClosedPages
  /// The router of the backend, which also passes on the pushes for closed pages.
  let router: any PushRouter
  /// The open streams by channel.
  let liveChannels: LiveChannels
  let groupPushes = GroupPushQueue()
  /// The rate limits for device tokens, teams and apps.
  let senderRates: SenderRates
  /// The limit of delivery-log rows about refused pushes of clients without a valid credential.
  let refusalRows = RefusalRowLimiter()
  let budgets = DeviceRateLimiter()
  /// The times at which devices were connected, until they are written to disk.
  let presence = LastSeen()
  /// The pushes that devices were sent, as far as they are in memory.
  let histories = DeviceHistories()
  /// The pushes that other gateways sent, and that devices may report on here.
  let remotePushes = RemotePushes()
  let conditions = DeviceConditions()
  let meter: GatewayMeter
  let lifecycle = Lifecycle()
  let housekeeping: Housekeeping
  /// The service to which pushes for unknown device tokens are forwarded; nil if there is none.
  let upstream: Upstream?

  let summaries: Summaries
  let logQueries: LogQueries
  let standings: Standings
  let pushes: Pushes
  let devices: Devices
  let broadcasts: Broadcasts
  let apps: Apps
  let clusterPresence: ClusterPresence
  let healthCheck: HealthCheck

  private let logger: Logger
  private let work: RepeatedWork
  /// The gateways of the cluster that were absent at the last maintenance, by their ids.
  private let absent = Mutex<Set<String>>([])

  var registrations: any Registrations { backend.registrations }
  var mailbox: any Mailbox { backend.mailbox }

  /// Builds the parts; reads the stored data.
  ///
  /// - Parameters:
  ///   - store: the gateway's own database.
  ///   - meter: the counters, which the storage backend may use before this call.
  ///   - notices: the permanent properties of the gateway that health reports.
  ///   - targets: the upstreams for unknown device tokens; nil for none.
  init(
    _ configuration: Configuration, backend: GatewayBackend, store: SQLiteStore, log: DeliveryLog, clock: WallClock,
    logger: Logger, meter: GatewayMeter = GatewayMeter(), notices: [HealthProblem] = [], targets: UpstreamTargets? = nil
  ) throws {
    let (registrations, mailbox) = (backend.registrations, backend.mailbox)
    self.backend = backend
    self.log = log
    self.clock = clock
    self.logger = logger
    work = RepeatedWork(logger: logger)
    self.meter = meter
    upstream = targets.map { Upstream($0, meter: meter.upstream, clock: clock, logger: logger) }
    environment = configuration.environment
    provider = configuration.provider
    senderRates = SenderRates(configuration.rateLimits)
    held = try DeferredPushes(store: store, logger: logger)
    channels = try Channels(store: store, logger: logger)
    groups = try Groups(store: store)
    answers = Answers(store: store)
    audit = AuditTrail(store: store, logger: logger)
    retractions = try Retractions(store: store)
    remote = RemoteAdministration(
      try AdministratorTokens(store: store), isOn: configuration.isRemotelyAdministered)
    messages = MessageAccess(try MessageSenders(store: store))
    endpoints = try WebPushEndpoints(store: store)
    attachments = try Attachments(store: store)
    pages = ClosedPages(
      configuration, try PushSubscriptions(store: store), backend: backend, retractions: retractions,
      conditions: conditions, clock: clock, logger: logger)
    let router = ClosedPageRouter(backend.router, pages)
    self.router = router
    let scheduled = try ScheduledPushes(store: store)
    schedule = Schedule(
      DeliverScheduled(
        scheduled: scheduled, groups: groups, registrations: registrations, mailbox: mailbox, router: router, log: log,
        clock: clock, rates: senderRates),
      Heartbeats(
        expectations: Expectations(scheduled), senders: messages.senders, registrations: registrations, groups: groups,
        log: log, clock: clock, environment: configuration.environment))
    liveChannels = LiveChannels { message, count in
      logger.log(
        .broadcastHandedOut, "broadcast queued for all streams of its channel",
        metadata: [
          "id": "\(message.id)", "streams": "\(count)",
          "milliseconds": "\(clock.milliseconds() - message.received)",
        ])
    }
    housekeeping = Housekeeping(
      configuration, logger: logger,
      save: BackupQueue(store, StateFolder(configuration.state), saveCluster: backend.cluster?.save).save)
    summaries = Summaries(
      registrations: registrations, mailbox: mailbox, held: held, router: router, log: log, clock: clock)
    logQueries = LogQueries(log: log, registrations: registrations, groups: groups, cluster: backend.cluster)
    events = EventSenders(
      try EventTargets(store: store), log: log, queries: logQueries, clock: clock, logger: logger)
    standings = Standings(
      registrations: registrations, days: AppDays(store: store, log: log), clock: clock, logger: logger)
    pushes = Pushes(
      registrations: registrations, mailbox: mailbox, held: held, schedule: schedule, retractions: retractions,
      groups: groups, answers: answers, channels: channels, histories: histories, remotePushes: remotePushes,
      log: log, router: router, clock: clock, cluster: backend.cluster)
    devices = Devices(
      registrations: registrations, mailbox: mailbox, held: held, schedule: schedule, channels: channels,
      groups: groups, answers: answers, retractions: retractions, endpoints: endpoints, attachments: attachments,
      pages: pages, conditions: conditions, histories: histories, summaries: summaries, logQueries: logQueries,
      router: router, clock: clock, policy: configuration.enrollment)
    broadcasts = Broadcasts(
      registrations: registrations, channels: channels, devices: devices, router: router, clock: clock)
    apps = Apps(
      registrations: registrations, mailbox: mailbox, held: held, schedule: schedule, channels: channels,
      broadcasts: broadcasts, groups: groups, answers: answers, retractions: retractions, senders: messages.senders,
      endpoints: endpoints, attachments: attachments, log: log, clock: clock)
    clusterPresence = ClusterPresence(
      router: router, conditions: conditions, liveChannels: liveChannels, mailbox: mailbox, cluster: backend.cluster)
    healthCheck = HealthCheck(
      backend: backend, log: log, schedule: schedule, events: events, pages: pages, lifecycle: lifecycle,
      housekeeping: housekeeping, upstream: upstream, notices: notices)
  }

  /// Connects the parts with each other, and with the other gateways of a cluster.
  func connect() throws {
    if let cluster = backend.cluster {
      try cluster.join(channels: channels, liveChannels: liveChannels, router: router, schedule: schedule)
      try LogAnswers(log, registrations).join(cluster)
      try clusterPresence.join(cluster)
      try SentPushMessages(cluster: cluster).join(remotePushes)
      let isKnown = { @Sendable [registrations] (device: DeviceID, app: AppID) in
        registrations.device(device) != nil && registrations.app(app) != nil
      }
      try AlertHandover(conditions: conditions, clock: clock, isKnown: isKnown).join(cluster)
      UnseenPushes(clusterPresence, log: log).join(router)
    }
    registrations.onChange { [devices] in devices.announce($0) }
    log.afterLoss { [pushes, work] since in
      // A failed read is not fatal: a later loss, or the next start, logs the answers.
      Task { await work.attempt("lost-answers") { try await pushes.logAnswers(afterLoss: since) } }
    }
  }

  /// Completes the work that the last end of the gateway interrupted, and delivers the pushes that became due.
  func restore() async {
    pushes.restoreRetractions()
    // An unreadable log is not fatal.
    await work.attempt("lost-answers") { try await pushes.restoreAnswers() }
    summaries.deliverDue(isStart: true)
    schedule.wake()
    await events.start()
  }

  /// Applies the settings that can change while connections are open.
  func apply(_ configuration: Configuration) {
    senderRates.set(configuration.rateLimits)
    housekeeping.configure(configuration)
    log.keep(configuration)
    remote.set(isOn: configuration.isRemotelyAdministered)
  }

  // MARK: Maintenance

  /// Does the periodic work of all parts, in this order. When the task is canceled, the current step ends normally, and
  /// no other begins.
  func maintain() async {
    housekeeping.look(at: clock.seconds)
    mailbox.expire(now: clock.seconds)
    summaries.deliverDue()
    let steps: [@Sendable () async -> Void] = [
      { [self] in await channels.expire(now: clock.milliseconds()) },
      storePresence,
      { [self] in await audit.settle() },
      logAnswersOfAbsent,
      trim,
      { [self] in await work.attempt("standings") { try await standings.tend() } },
      settleLastUses,
      { [self] in
        await work.attempt("heartbeats") {
          try await schedule.heartbeats.expectations.correct(now: clock.milliseconds())
        }
      },
    ]
    // GRDB refuses writes of a canceled task, so each step has a task of its own.
    for step in steps where !Task.isCancelled { await Task(operation: step).value }
    if !Task.isCancelled { await backend.tend() }
  }

  /// Removes the data whose time has ended.
  private func trim() async {
    let now = clock.milliseconds()
    await work.attempt("groups") { try await groups.trim(now: now) }
    await work.attempt("answers") { try await answers.trim(now: now) }
    await work.attempt("retractions") {
      try await retractions.trim(now: now) { [registrations] in registrations.person($0) != nil }
    }
    await work.attempt("endpoints") { try await endpoints.trim(now: now) }
    await work.attempt("attachments") { try await attachments.trim(now: now / 1000) }
    await work.attempt("categories") { try await registrations.expireCategories(now: now / 1000) }
  }

  /// Stores the times at which tokens and senders were last used.
  private func settleLastUses() async {
    await work.attempt("tokens") { try await remote.tokens.settle() }
    await work.attempt("senders") { try await messages.senders.settle() }
  }

  /// The time in milliseconds before its absence is noted here in which a gateway may have taken its last answers.
  private static let absenceTime: Int64 = 60_000

  /// Logs the last answers of a gateway that has left the cluster: its log can't be read until it is back, and a sender
  /// may wait for them.
  private func logAnswersOfAbsent() async {
    guard let cluster = backend.cluster else { return }
    let now = Set(cluster.others.filter { $0.process == nil }.map(\.id))
    let before = absent.withLock { absent in
      defer { absent = now }
      return absent
    }
    guard !now.isSubset(of: before) else { return }
    await work.attempt("lost-answers") {
      try await pushes.logAnswers(afterLoss: clock.milliseconds() - Self.absenceTime)
    }
  }

  /// Stores the times of the devices' last connections.
  private func storePresence() async {
    do {
      while case let seen = presence.take(), !seen.isEmpty { try await registrations.note(seen: seen) }
    } catch {
      logger.log(.presenceNotStored, "the times of the devices' last connections were not stored: \(error)")
    }
  }

  // MARK: End

  /// Writes the pending changes of all parts to disk.
  func settle() async {
    await events.stop()
    await pages.stop()
    await schedule.stop()
    await held.settle()
    await channels.settle()
    await answers.settle()
    await groups.settle()
    await audit.settle()
    await storePresence()
    await work.attempt("standings") { try await standings.settle() }
    await settleLastUses()
  }

  /// Closes the storage backend and the delivery log; may block.
  func close() {
    backend.close()
    log.close()
  }
}

extension ClosedPages {
  /// - Parameter subscriptions: the subscriptions of the gateway's own database.
  convenience init(
    _ configuration: Configuration, _ subscriptions: PushSubscriptions, backend: GatewayBackend,
    retractions: Retractions, conditions: DeviceConditions, clock: WallClock, logger: Logger
  ) {
    let (services, folder) = (configuration.pushServices, StateFolder(configuration.state))
    self.init(
      Parts(
        subscriptions: subscriptions, registrations: backend.registrations, retractions: retractions,
        conditions: conditions, clock: clock, logger: logger, services: services, contact: configuration.pushContact,
        pending: { device, seq in
          try await backend.becomeCurrent()
          let pending = try await backend.mailbox.pending(for: device, after: seq - 1, limit: 1)
          return pending.entries.first.flatMap { $0.seq == seq ? $0.push : nil }
        },
        streams: { backend.router.count(of: $0) },
        post: { [trust = EventTrust()] request in
          guard request.url.isSecure else { return try await request.answer(nil) }
          // A push service on this machine can have a certificate of the gateway's own CA.
          let authority = services == .all ? String(decoding: folder.trustBundle, as: UTF8.self) : ""
          return try await request.answer(try await trust.context(authority))
        }))
  }
}
