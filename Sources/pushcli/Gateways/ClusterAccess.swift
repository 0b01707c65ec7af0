import GatewayClient
import GatewayProtocol
import PushCore

/// Requests of a command that continues at another gateway of the cluster while one is away, is halted, or answers 503.
actor ClusterAccess {
  /// A connection to one of the gateways.
  struct Connection: Sendable {
    let admin: Admin
    let path: LogPath
    /// The number of the connection: positions in the delivery log are valid for one connection.
    let number: Int
  }

  /// The interval of PINGs: a gateway that has sent nothing for twice that time is left.
  static let pingInterval = Duration.seconds(5)

  private let state: StateOptions
  private var ways: GatewayWays
  private var connection: Connection?
  private var count = 0
  private var backoff = Backoff(first: .milliseconds(200), last: .seconds(1))
  private var absence: Absence
  /// The latest failure; nil after an answer.
  private(set) var failure: CommandFailure?

  init(_ state: StateOptions, _ ways: GatewayWays) {
    (self.state, self.ways, absence) = (state, ways, Absence(of: state))
  }

  /// Makes a request until a gateway answers it.
  ///
  /// - Returns: nil if none has answered until `end`.
  /// - Throws: ``CommandFailure`` for a refusal, and if the gateway of this machine is the only one and away for longer
  ///   than a restart takes.
  func attempt<Value: Sendable>(
    until end: ContinuousClock.Instant, _ request: @Sendable (Connection) async throws -> Value
  ) async throws -> Value? {
    repeat {
      let index = ways.current
      do {
        let value = try await request(try await connect())
        backoff.reset()
        absence.end()
        failure = nil
        return value
      } catch let error where !(error is CancellationError) {
        let failure = CommandFailure(any: error)
        guard ways.isPassing(failure, at: index) else { throw failure }
        self.failure = failure
        leave(index)
        if failure.status == nil, ways.all.count == 1 { try absence.note(failure) }
        let pause = max(backoff.next(), .seconds(failure.retryAfter ?? 0))
        try await Task.sleep(for: min(pause, max(.zero, end - .now)))
      }
    } while ContinuousClock.now < end
    return nil
  }

  /// Makes a request as ``attempt(until:_:)`` does.
  ///
  /// - Throws: the latest failure if no gateway has answered until `end`.
  func run<Value: Sendable>(
    until end: ContinuousClock.Instant, _ request: @Sendable (Connection) async throws -> Value
  ) async throws -> Value {
    if let value = try await attempt(until: end, request) { return value }
    throw failure ?? CommandFailure(.unreachable, "no gateway has answered in time")
  }

  /// Makes a request once at each gateway until one answers it; failures are ignored.
  func tryEach(_ request: @Sendable (Connection) async throws -> Void) async {
    // The connection may be one to a gateway that has restarted.
    connection = nil
    for _ in ways.all {
      let index = ways.current
      guard let connection = try? await connect() else {
        leave(index)
        continue
      }
      do { return try await request(connection) } catch { leave(index) }
    }
  }

  /// Uses the next gateway from now on, if there is another one.
  func moveOn() {
    if ways.all.count > 1 { leave(ways.current) }
  }

  /// Returns the present connection, or makes one to the gateway whose turn it is.
  private func connect() async throws -> Connection {
    if let connection { return connection }
    let context = try state.context
    let admin: Admin
    let isAdministered: Bool
    if let way = ways.way {
      isAdministered = way.isAdministered
      if let address = way.address, let secret = way.secret {
        admin = try await Admin(at: address, of: context, secret: secret, pingInterval: ClusterAccess.pingInterval)
      } else {
        admin = try await Admin(socket: context.folder, state, pingInterval: ClusterAccess.pingInterval)
      }
    } else {
      // The error of a machine without credentials.
      (admin, isAdministered) = (try await Admin(state), true)
    }
    count += 1
    let made = Connection(admin: admin, path: isAdministered ? .all : .own, number: count)
    connection = made
    return made
  }

  private func leave(_ index: Int) {
    guard index == ways.current else { return }
    connection?.admin.close()
    connection = nil
    ways.leave(index)
  }
}

extension StateOptions {
  /// Returns the ways to the gateways of the cluster.
  ///
  /// - Parameters:
  ///   - reported: the addresses that the own gateway names.
  ///   - devices: the devices that the command is about; the first one with its secret here can read its own rows.
  func ways(reported: [GatewayAddress], devices: [String]) throws -> GatewayWays {
    let context = try self.context
    let secret = devices.lazy.compactMap { try? Credentials.read($0, in: context.folder) }.first?.secret
    return GatewayWays(context, reported: try detours + reported, bearer: Admin.bearer(of: context), secret: secret)
  }
}

extension Admin {
  /// Returns the addresses of the other gateways of the cluster; empty without a cluster, and if the gateway does not
  /// answer.
  func others() async -> [GatewayAddress] {
    guard let status: GatewayStatus = try? await get(AdminPath.status()) else { return [] }
    return (status.gateways ?? []).prefix(Limits.maximumGateways).compactMap(GatewayAddress.init(line:))
  }
}
