import GatewayProtocol
import HTTP2Transport
import Logging
import PushCore
import Synchronization

/// The routes `/admin/v1/faults`: setting, listing and clearing faults.
final class FaultsAPI: Sendable {
  private let faults: FaultTable
  private let clock: WallClock
  private let logger: Logger
  /// The loops with the connections; created after this object, whose routes they serve.
  private let loops = Mutex<Loops?>(nil)

  init(_ faults: FaultTable, clock: WallClock, logger: Logger) {
    self.faults = faults
    self.clock = clock
    self.logger = logger
  }

  /// Sets the loops with the connections.
  func attach(_ loops: Loops) {
    self.loops.withLock { $0 = loops }
    faults.onClear { numbers in loops.forEachConnection { ConnectionFaults.end(numbers, on: $0) } }
  }

  var routes: [Router.Route] {
    [
      .init("GET", .faults, .reader) { [faults, clock] _ in
        Response(faults.list(now: clock.milliseconds()))
      },
      .init("POST", .faults, .operator, set),
      .init("DELETE", .faults, .operator) { [self] _ in
        let count = faults.clear()
        logger.log(.faultsRemoved, "all faults were removed", metadata: ["count": "\(count)"])
        return Response(["removed": count])
      },
      .init("DELETE", .fault, .operator) { [self] request in
        let name = request.parameters[0]
        guard faults.clear(name) > 0 else {
          throw Problem.notFound("there is no fault \(name): `pushcli faults list` shows them")
        }
        logger.log(.faultsRemoved, "fault \(name) was removed", metadata: ["fault": "\(name)"])
        return Response(["removed": 1])
      },
      .init("GET", .connections, .reader) { [self] _ in
        Response(await loops.withLock { $0 }?.connectionRecords() ?? [])
      },
    ]
  }

  private func set(_ request: ControlRequest) async throws -> Response {
    let rules: [FaultRule] = try request.decoded()
    do {
      let added = try rules.map { try Fault($0) }
      try faults.set(added, now: clock.milliseconds())
      for fault in added {
        logger.log(
          .faultSet, "fault \(fault.rule.name) was set",
          metadata: ["fault": "\(fault.rule.name)", "does": "\(fault.words)"])
      }
    } catch let error as FaultError {
      throw Problem.badRequest(error.description)
    }
    // Faults for connections also apply to existing connections.
    loops.withLock { $0 }?.forEachConnection { [faults, clock, logger] connection in
      FaultInjector.inject(connection, faults: faults, now: clock.milliseconds(), logger: logger)
    }
    return Response(faults.list(now: clock.milliseconds()), status: 201)
  }
}

extension Loops {
  /// Returns the open connections, in the order of their numbers.
  func connectionRecords() async -> [ConnectionRecord] {
    await connections { connection in
      ConnectionRecord(
        number: connection.number, address: connection.remoteAddress, environment: connection.environment.rawValue,
        streams: connection.session.openCount)
    }.sorted { $0.number < $1.number }
  }
}
