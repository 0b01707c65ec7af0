import GatewayClient
package import GatewayProtocol
import HTTP2Transport
import NIOCore
package import NIOPosix
import PushCore

/// All loops of a load test: each call goes to every loop.
package struct WorkerPool: Sendable {
  private let workers: [NIOLoopBound<LoadWorker>]
  private let target: LoadTarget
  private let plan: LoadPlan

  /// Divides devices, providers and rate among the loops of `group`.
  package init(
    _ plan: LoadPlan, _ target: LoadTarget, run: UInt16, credentials: [BatchDevice], group: MultiThreadedEventLoopGroup
  ) async throws {
    self.target = target
    self.plan = plan
    let addresses = try target.addresses.map { address in
      do { return try SocketAddress.makeAddressResolvingHost(address.host, port: address.port) } catch {
        throw ClientError(.unreachable, "\(address.host) has no address: check the name")
      }
    }
    let tls = try TLSContext.client(trustPath: target.trustPath)
    let wallStart = Int(WallClock.system.seconds)
    var workers: [NIOLoopBound<LoadWorker>] = []
    for (index, loop) in group.makeIterator().enumerated() {
      func part(_ count: Int) -> Range<Int> { count * index / plan.loops..<count * (index + 1) / plan.loops }
      let devices = part(plan.devices)
      let share = plan.share(index, devices: devices.count, providers: part(plan.providers).count)
      let mine = credentials.isEmpty ? [] : Array(credentials[devices])
      workers.append(
        try await loop.submit {
          NIOLoopBound(
            LoadWorker(
              index: index, plan: share, target: target, run: run, wallStart: wallStart, credentials: mine,
              addresses: addresses, tls: tls, loop: loop), eventLoop: loop)
        }.get())
    }
    self.workers = workers
  }

  private func each<Value: Sendable>(_ body: @escaping @Sendable (LoadWorker) throws -> Value) async -> [Value] {
    var values: [Value] = []
    for worker in workers {
      if let value = try? await worker.eventLoop.submit({ try body(worker.value) }).get() { values.append(value) }
    }
    return values
  }

  package func connectProviders() async throws {
    let authorization = try target.authorization?()
    _ = await each { $0.connectProviders(authorization: authorization) }
  }

  package func renewAuthorization() async throws {
    let authorization = try target.authorization?()
    _ = await each { $0.setAuthorization(authorization) }
  }

  package func connectDevices() async throws { _ = await each { $0.connectDevices() } }

  package func begin(start: UInt64) async { _ = await each { $0.begin(start: start) } }

  package func stopSending() async { _ = await each { $0.stopSending() } }

  package func beginStorm() async { _ = await each { $0.beginStorm() } }

  /// Connects the one device of a catch-up, which belongs to the first loop.
  package func connectFirstDevice() async {
    guard let worker = workers.first else { return }
    try? await worker.eventLoop.submit { worker.value.connectFirstDevice() }.get()
  }

  /// Returns the number of pushes that the device of a catch-up has received, and the seconds from its connection
  /// attempt to the last push.
  package func caughtUp() async -> (Int, Double) {
    await each { worker -> (Int, Double) in
      // Without a delivery, `last` is 0.
      let (began, last) = (worker.catchUpBegan, worker.tally.lastDelivery)
      return (worker.tally.pushes.delivered, last > began ? Double(last - began) / 1e9 : 0)
    }.first ?? (0, 0)
  }

  package func standing() async -> LoadStanding {
    var sum = LoadStanding()
    sum.providers = plan.kind == .idle ? 0 : plan.providers
    for one in await each({ $0.standing }) { sum.add(one) }
    return sum
  }

  /// Closes all connections and returns the summed counts and the number of missing accepted pushes by device.
  package func finish() async -> (LoadTally, missing: [Int: Int]) {
    var sum = LoadTally()
    var missing: [Int: Int] = [:]
    var first = 0
    for (index, (tally, absent)) in await each({ $0.finish() }).enumerated() {
      sum.add(tally)
      for (device, count) in absent { missing[first + device] = count }
      for (device, count) in tally.dropped { sum.dropped[first + device] = count }
      first += plan.devices * (index + 1) / plan.loops - plan.devices * index / plan.loops
    }
    return (sum, missing)
  }
}
