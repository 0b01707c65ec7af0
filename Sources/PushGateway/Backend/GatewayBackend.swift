import Foundation
import GatewayProtocol
import Logging
import NIOCore
import PushCore
import PushStorage

/// The storage backend of a gateway as one value: the storage of registrations and pushes, their routing to streams,
/// and the durability guarantee of a 200. APIs depend on nothing else of it; docs/internals/storage-backend.md lists
/// the requirements for another backend.
///
/// State of a single gateway is not part of the backend; it is in the gateway's own state folder: see
/// docs/internals/storage-backend.md.
struct GatewayBackend: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let router: any PushRouter
  let durability: DurabilityLevel
  /// The epoch of the mailbox's numbering, which devices store with their cursors; nil for a standalone gateway.
  var epoch: NumberingEpoch?
  /// Returns the device addresses of the other gateways of this backend, including gateways that do not answer now.
  /// Called when a device connects and when this gateway stops, on any thread.
  var gateways: @Sendable () -> [GatewayAddress] = { [] }
  /// The counters of the mailbox's commits; nil if it has none.
  var mailboxMeter: MailboxMeter?
  /// Returns the numbers of pending and of uncommitted pushes; nil if they are unknown. `oldest` is the time at which the
  /// oldest pending push was received, in milliseconds since 1970, rounded by some seconds; nil if none is pending.
  var mailboxBacklog: @Sendable () -> (waiting: Int, oldest: Int64?, uncommitted: Int)? = { nil }
  var problems: @Sendable () -> [HealthProblem] = { [] }
  /// The time that a stream stays open while its mailbox can't be read.
  var readTimeout = TimeAmount.zero
  /// Returns true while only this gateway can't read mailboxes: devices are redirected to another.
  var isCutOff: @Sendable () -> Bool = { false }
  /// Returns true if this gateway has the data that it shares with others, so that stored pushes may be delivered.
  var isCurrent: @Sendable () -> Bool = { true }
  /// Returns when this gateway has the data that it shares with others.
  var becomeCurrent: @Sendable () async throws -> Void = {}
  /// The gateway's membership in a cluster; nil for a standalone gateway.
  var cluster: (any Cluster)?
  /// Runs the periodic maintenance.
  var tend: @Sendable () async -> Void = {}
  /// Commits queued work and releases all resources. Called once, after the last append; may block.
  let close: @Sendable () -> Void

  /// The parameters of a new backend.
  struct Context: Sendable {
    let configuration: Configuration
    let clock: WallClock
    let logger: Logger
    /// Called once for every entry that leaves the mailbox without an acknowledgment, on any thread.
    let removed: @Sendable ([MailboxRemoval]) -> Void

    /// Ends the process if required data turns out to be unreadable after the start: the gateway would answer
    /// incorrectly.
    func end(_ error: StoreError) {
      logger.log(.gatewayEnds, "the gateway stops: \(error)")
      exit(EXIT_FAILURE)
    }
  }

  /// The pause between two slices of the vacuum, in which other commits can run.
  private static let vacuumPause = Duration.milliseconds(20)

  /// Runs `read`, which may take seconds, on its own thread.
  static func onThread<Value: Sendable>(_ read: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try read() }) }
    }
  }

  /// Creates the backend of a standalone gateway: one database in the state folder. Registrations and pending pushes
  /// are read at the same time.
  ///
  /// - Returns: the backend, and its database, in which the gateway may store its own data.
  static func sqlite(_ context: Context) async throws -> (backend: GatewayBackend, store: SQLiteStore) {
    let (configuration, clock) = (context.configuration, context.clock)
    let store = try SQLiteStore(
      path: StateFolder(configuration.state).databasePath, durability: configuration.durability)
    async let opening = onThread {
      try SQLiteMailbox(
        store: store, cap: configuration.mailboxCap, logger: context.logger, now: { clock.seconds },
        removed: context.removed)
    }
    let registrations: SQLiteRegistrations
    do {
      registrations = try await onThread { try SQLiteRegistrations(store: store) }
    } catch {
      (try? await opening)?.close()
      throw error
    }
    let mailbox = try await opening
    let watch = StoreWatch(store, logger: context.logger, now: { clock.seconds })
    mailbox.purgeUnregistered { device, app in
      // Summaries belong to the gateway itself and have no registration.
      app == App.summary.id || registrations.registrations(of: device).contains { $0.1.id == app }
    }
    let backend = GatewayBackend(
      registrations: registrations, mailbox: mailbox, router: DeviceStreamRegistry(),
      durability: .localDisk(configuration.durability), mailboxMeter: mailbox.meter,
      mailboxBacklog: { mailbox.backlog },
      problems: { [mailbox.problem, mailbox.loss, watch.problem].compactMap(\.self) },
      tend: {
        await watch.look()
        while (try? await store.releaseSpace()) == true { try? await Task.sleep(for: GatewayBackend.vacuumPause) }
      }, close: { mailbox.close() })
    return (backend, store)
  }
}

/// The durability guarantee of a 200, for users and monitors: in `GET /v1/health`, and in docs/concepts/durability.md.
struct DurabilityLevel: Sendable, Equatable {
  /// One word: `durability` in the response.
  let name: String
  /// The condition for a 200, in one line for users: `promise` in the response.
  let words: String

  static func localDisk(_ durability: Durability) -> DurabilityLevel {
    let words =
      switch durability {
      case .full: "on this machine's disk: survives a crash of the process, the operating system and the machine"
      case .normal: "in the operating system's cache: survives a crash of the process only"
      }
    return DurabilityLevel(name: durability.rawValue, words: words)
  }
}
