import PushCore
import PushStorage

/// What the APIs of every loop share. Each part is safe to use from any thread.
struct Services: Sendable {
  let backend: GatewayBackend
  let log: DeliveryLog
  /// Pushes that wait for a digest.
  let held: DeferredPushes
  /// What persons have answered.
  let answers: Answers
  /// What administrators have asked for.
  let audit: AuditTrail
  /// Who may ask for it from elsewhere.
  let remote: RemoteAdministration
  /// Pushes for a later time.
  let schedule: Schedule
  /// What senders have taken back.
  let retractions: Retractions
  /// Rows of the delivery log about refused pushes of clients without a valid credential.
  let refusalRows = RefusalBudget()
  /// Groups of persons.
  let groups: Groups
  /// Pushes to them that are being stored, or wait for it.
  let groupPushes = GroupPushLine()
  /// The environment of what names none: of listeners, of devices that register.
  let environment: Environment
  /// How many pushes device tokens take, and teams and apps may send.
  var senderRates = SenderRates()
  let clock: WallClock
  var provider = ProviderSettings()
  /// Who may enroll a device.
  var enrollment = EnrollmentPolicy.openOnLoopback
  /// When devices were connected, until it is written down.
  let presence = LastSeen()
  /// What devices were sent, as far as it is remembered.
  let histories = DeviceHistories()
  /// Of what other gateways sent, what devices may say something here.
  let sentElsewhere = SentElsewhere()
  let conditions = DeviceConditions()
  let budgets = DeviceRateLimiter()
  let channels: Channels
  /// Open streams by channel.
  var liveChannels = LiveChannels()
  var meter = GatewayMeter()
  let lifecycle = Lifecycle()
  /// What is done for the disk; nil where there is none.
  var housekeeping: Housekeeping?

  var registrations: any Registrations { backend.registrations }
  var mailbox: any Mailbox { backend.mailbox }
  var router: any PushRouter { backend.router }
}

extension Schedule {
  /// What is scheduled in the gateway's own database, for the mailboxes of a backend.
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
