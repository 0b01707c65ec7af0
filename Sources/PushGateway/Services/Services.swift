import PushCore
import PushStorage

/// The objects that the APIs of all event loops share. Each is safe to use on any thread.
struct Services: Sendable {
  let backend: GatewayBackend
  let log: DeliveryLog
  /// The pushes that are deferred to a summary.
  let held: DeferredPushes
  /// The answers of users.
  let answers: Answers
  /// The audit trail of administrators' requests.
  let audit: AuditTrail
  /// The settings and limits of remote administration.
  let remote: RemoteAdministration
  /// The pushes that are scheduled for a later time.
  let schedule: Schedule
  /// The retractions of senders.
  let retractions: Retractions
  /// The limit of delivery-log rows about refused pushes of clients without a valid credential.
  let refusalRows = RefusalBudget()
  /// The groups of users.
  let groups: Groups
  /// The queue of pushes to groups.
  let groupPushes = GroupPushLine()
  /// The default environment of listeners and of devices that register.
  let environment: Environment
  /// The rate limits for device tokens, teams and apps.
  var senderRates = SenderRates()
  let clock: WallClock
  var provider = ProviderSettings()
  /// The policy for enrolling devices.
  var enrollment = EnrollmentPolicy.openOnLoopback
  /// The times at which devices were connected, until they are written to disk.
  let presence = LastSeen()
  /// The pushes that devices were sent, as far as they are in memory.
  let histories = DeviceHistories()
  /// The pushes that other gateways sent, and that devices may report on here.
  let sentElsewhere = SentElsewhere()
  let conditions = DeviceConditions()
  let budgets = DeviceRateLimiter()
  let channels: Channels
  /// The open streams by channel.
  var liveChannels = LiveChannels()
  var meter = GatewayMeter()
  let lifecycle = Lifecycle()
  /// The disk maintenance; nil if there is none.
  var housekeeping: Housekeeping?

  var registrations: any Registrations { backend.registrations }
  var mailbox: any Mailbox { backend.mailbox }
  var router: any PushRouter { backend.router }
}

extension Schedule {
  /// Creates the schedule in the gateway's own database, for the mailboxes of a backend.
  convenience init(
    store: SQLiteStore, backend: GatewayBackend, groups: Groups, log: DeliveryLog, clock: WallClock
  ) throws(StoreError) {
    self.init(
      DeliverScheduled(
        scheduled: try ScheduledPushes(store: store), groups: groups, registrations: backend.registrations,
        mailbox: backend.mailbox,
        router: backend.router, log: log, clock: clock))
  }
}
