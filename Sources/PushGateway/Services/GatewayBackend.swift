import Foundation
import GatewayProtocol
import Logging
import NIOCore
import PushCore
import PushStorage

/// What a gateway needs of its home, as one value: where registrations and pushes are kept, how they reach streams, and
/// what a 200 promises. APIs know nothing else of it; docs/backend.md says what a second one has to do.
///
/// What one gateway knows for itself is no part of it, and lies in its own state folder: see docs/backend.md.
struct GatewayBackend: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let router: any PushRouter
  let promise: DurabilityLevel
  /// The numbering of the mailbox's pushes, which devices keep beside their cursors; nil for a gateway that is alone.
  let epoch: NumberingEpoch?
  /// Where devices reach the other gateways that share this backend, also those that don't answer at this moment; asked
  /// for when a device connects and when this gateway ends, on any thread.
  let gateways: @Sendable () -> [GatewayAddress]
  /// The gateway's part in a cell; nil for one that is alone.
  let cell: (any GatewayCell)?
  /// What the mailbox counts of its commits; nil when it counts nothing.
  let mailboxMeter: MailboxMeter?
  /// What waits in the mailbox now; nil when it does not say.
  let mailboxBacklog: @Sendable () -> MailboxBacklog?
  /// How long a stream stays open while its mailbox can't be read.
  let readTimeout: TimeAmount
  /// Whether this gateway alone can't read mailboxes now: devices are to go to another.
  let isCutOff: @Sendable () -> Bool
  /// What can't be done now.
  let problems: @Sendable () -> [HealthProblem]
  /// Does what is to be done from time to time.
  let tend: @Sendable () async -> Void
  /// Commits what is in line and lets go of everything. Called once, when nothing is appended any more; it may block.
  let close: @Sendable () -> Void

  /// - Parameter problems: by default what the mailbox has to say.
  init(
    registrations: any Registrations, mailbox: any Mailbox, router: any PushRouter, promise: DurabilityLevel,
    epoch: NumberingEpoch? = nil, gateways: @escaping @Sendable () -> [GatewayAddress] = { [] },
    mailboxMeter: MailboxMeter? = nil, mailboxBacklog: @escaping @Sendable () -> MailboxBacklog? = { nil },
    problems: (@Sendable () -> [HealthProblem])? = nil,
    readTimeout: TimeAmount = .zero, isCutOff: @escaping @Sendable () -> Bool = { false },
    cell: (any GatewayCell)? = nil, tend: @escaping @Sendable () async -> Void = {},
    close: @escaping @Sendable () -> Void
  ) {
    self.registrations = registrations
    self.mailbox = mailbox
    self.router = router
    self.promise = promise
    self.epoch = epoch
    self.gateways = gateways
    self.readTimeout = readTimeout
    self.isCutOff = isCutOff
    self.cell = cell
    self.mailboxMeter = mailboxMeter
    self.mailboxBacklog = mailboxBacklog
    self.problems = problems ?? { mailbox.problem.map { [$0] } ?? [] }
    self.tend = tend
    self.close = close
  }

  /// What a backend is made with.
  struct Context: Sendable {
    let configuration: Configuration
    let clock: WallClock
    let logger: Logger
    /// Hears of every entry that leaves the mailbox without an acknowledgement, once, on any thread.
    let removed: @Sendable ([MailboxRemoval]) -> Void

    /// Ends the process, when what it needs turns out to be unreadable after it has begun: it would answer wrongly.
    func end(_ error: StoreError) {
      logger.log(.gatewayEnds, "the gateway stops: \(error)")
      exit(EXIT_FAILURE)
    }
  }

  /// Between two slices of room that are given back, for the commits of others.
  private static let vacuumPause = Duration.milliseconds(20)

  /// Everything in one database in the state folder, for a gateway that is alone.
  ///
  /// - Returns: the database, too, in which the gateway may keep what is its own.
  static func sqlite(_ context: Context) throws -> (backend: GatewayBackend, store: SQLiteStore) {
    let (configuration, clock) = (context.configuration, context.clock)
    let store = try SQLiteStore(
      path: StateFolder(configuration.state).databasePath, durability: configuration.durability)
    let registrations = try SQLiteRegistrations(store: store, failed: context.end)
    let mailbox = try SQLiteMailbox(
      store: store, cap: configuration.mailboxCap, logger: context.logger, now: { clock.seconds },
      removed: context.removed, didRead: registrations.waitUntilRead)
    let watch = StoreWatch(store, logger: context.logger, now: { clock.seconds })
    mailbox.purgeUnregistered { device, app in
      // Digests are the gateway's own.
      app == App.summary.id || registrations.registrations(of: device).contains { $0.1.id == app }
    }
    let backend = GatewayBackend(
      registrations: registrations, mailbox: mailbox, router: DeviceStreamRegistry(),
      promise: .localDisk(configuration.durability), mailboxMeter: mailbox.meter,
      mailboxBacklog: { mailbox.backlog },
      problems: { [mailbox.problem, mailbox.loss, watch.problem].compactMap(\.self) },
      tend: {
        await watch.look()
        while (try? await store.giveRoomBack()) == true { try? await Task.sleep(for: GatewayBackend.vacuumPause) }
      }, close: { mailbox.close() })
    return (backend, store)
  }
}

/// What a 200 promises, for people and monitors: in `GET /v1/health`, and in docs/durability.md.
struct DurabilityLevel: Sendable, Equatable {
  /// One word: `durability` of the answer.
  let name: String
  /// When a 200 goes out, in one line for people: `promise` of the answer.
  let words: String

  package init(name: String, words: String) {
    self.name = name
    self.words = words
  }

  static func localDisk(_ durability: Durability) -> DurabilityLevel {
    let words =
      switch durability {
      case .full: "on this machine's disk: survives a crash of the process, the operating system and the machine"
      case .normal: "in the operating system's cache: survives a crash of the process only"
      }
    return DurabilityLevel(name: durability.rawValue, words: words)
  }
}
