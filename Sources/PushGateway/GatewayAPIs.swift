import GatewayProtocol
import PushCore
import PushStorage

// The APIs with the parts of the gateway that they depend on.

extension AdminAPI {
  /// - Parameters:
  ///   - backup: writes a backup to a file; nil: as the gateway's scheduled backups.
  ///   - certificates: the certificate routes; nil without a CA that issues certificates.
  ///   - faults: the fault routes; nil if there are no connections to inject faults into.
  ///   - service: the routes for the settings, reload and restart of the service; nil if they are not served.
  ///   - logLevel: the route for the log level; nil if it can't be changed.
  ///   - send: the routes that check and send a push; nil without a provider API.
  init(
    _ parts: GatewayParts, status: @escaping @Sendable () -> GatewayStatus, backup: ScheduledBackups.Save? = nil,
    compact: (@Sendable () async throws -> (before: Int, after: Int))? = nil, certificates: CertificatesAPI? = nil,
    faults: FaultsAPI? = nil, authority: @escaping @Sendable () -> String? = { nil }, metrics: MetricsAPI? = nil,
    service: ServiceAPI? = nil, logLevel: LogLevelAPI? = nil, send: SendAPI? = nil
  ) {
    let (registrations, clock) = (parts.registrations, parts.clock)
    let schedule = ScheduleAPI(registrations: registrations, groups: parts.groups, schedule: parts.schedule)
    let groups = GroupsAPI(
      registrations: registrations, groups: parts.groups, pushes: parts.pushes, schedule: parts.schedule,
      environment: parts.environment, clock: clock)
    let senders = SendersAPI(
      registrations: registrations, groups: parts.groups, senders: parts.messages.senders, test: HookTest(parts),
      clock: clock)
    let tokens = TokensAPI(remote: parts.remote, clock: clock, authority: authority)
    let channels = ChannelsAPI(
      registrations: registrations, channels: parts.channels, broadcasts: parts.broadcasts,
      presence: parts.clusterPresence, environment: parts.environment, clock: clock)
    let replay = ReplayAPI(registrations: registrations, logQueries: parts.logQueries, clock: clock)
    let shares = SharesAPI(registrations: registrations, channels: channels, clock: clock, authority: authority)
    var others = schedule.routes + groups.routes + (certificates?.routes ?? []) + tokens.routes
    others += ConsoleLinksAPI(remote: parts.remote, clock: clock).routes
    others += senders.routes + ExpectationsAPI(schedule: parts.schedule, clock: clock).routes
    others += StandingsAPI(registrations: registrations, standings: parts.standings, clock: clock).routes
    others += EventTargetsAPI(registrations: registrations, senders: parts.events, clock: clock).routes
    others += (faults?.routes ?? []) + channels.routes + shares.routes
    others += (service?.routes ?? []) + (logLevel?.routes ?? []) + (send?.routes ?? [])
    self.init(
      registrations: registrations, groups: parts.groups, apps: parts.apps, devices: parts.devices,
      pushes: parts.pushes, logQueries: parts.logQueries, environment: parts.environment, clock: clock,
      gate: AdminAuthorizer(remote: parts.remote, registrations: registrations, audit: parts.audit, clock: clock),
      audit: AuditAPI(audit: parts.audit, clock: clock), lists: ListsAPI(parts), others: others,
      unrecorded: (send?.checks ?? []) + replay.routes, publicRoutes: certificates?.publicRoutes ?? [], status: status,
      backup: backup ?? parts.housekeeping.save, compact: compact, authority: authority, metrics: metrics)
  }
}

extension MessageRecipients {
  init(_ parts: GatewayParts) {
    self.init(registrations: parts.registrations, groups: parts.groups, conditions: parts.conditions)
  }
}

extension HookTest {
  init(_ parts: GatewayParts) {
    self.init(recipients: MessageRecipients(parts), environment: parts.environment, clock: parts.clock)
  }
}

extension SendAPI {
  /// - Parameter socket: the path of the admin socket.
  init(_ parts: GatewayParts, _ folder: StateFolder, socket: String) {
    self.init(
      registrations: parts.registrations, recipients: MessageRecipients(parts), environment: parts.environment,
      clock: parts.clock, folder: folder, socket: socket)
  }
}

extension ListsAPI {
  init(_ parts: GatewayParts) {
    self.init(
      registrations: parts.registrations, channels: parts.channels, pushes: parts.pushes,
      presence: parts.clusterPresence, clock: parts.clock)
  }
}

extension DeviceAPI {
  init(_ parts: GatewayParts) {
    self.init(
      registrations: parts.registrations, mailbox: parts.mailbox, streams: parts.router, epoch: parts.backend.epoch,
      channels: parts.channels, groups: parts.groups, audit: parts.audit, budgets: parts.budgets,
      devices: parts.devices, pushes: parts.pushes, broadcasts: parts.broadcasts, endpoints: parts.endpoints,
      attachments: parts.attachments, pages: parts.pages, logQueries: parts.logQueries, lists: ListsAPI(parts),
      standings: parts.standings, clock: parts.clock)
  }
}

extension Meters {
  init(
    _ parts: GatewayParts, faults: FaultTable, transportLimits: LimitLog, folder: StateFolder,
    certificatePath: (@Sendable () -> String)? = nil
  ) {
    self.init(
      backend: parts.backend, log: parts.log, held: parts.held, schedule: parts.schedule, events: parts.events,
      pages: parts.pages, budgets: parts.budgets, healthCheck: parts.healthCheck, gateway: parts.meter,
      clock: parts.clock, faults: faults, transportLimits: transportLimits, folder: folder,
      certificatePath: certificatePath)
  }
}
