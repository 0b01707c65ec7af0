import NATSClient
import NATSTesting
import NIOCore
import NIOPosix
import PushTesting
import Synchronization

@testable import PushCluster
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// A cluster of many gateways and modeled devices on a model of JetStream. Each method does one step and measures it.
final class ScaleCluster: Sendable {
  let size: ScaleSize
  let engine = ModelEngine(isReliable: true)
  let gateways: [ScaleGateway]
  let devices: [ScaleDevice]
  let tallies = ScaleTallies()
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let loop: any EventLoop

  init(_ size: ScaleSize) async throws {
    self.size = size
    loop = group.next()
    let (engine, loop, tallies) = (engine, loop, tallies)
    gateways = (0..<size.gateways).map { ScaleGateway(engine, number: $0, size) }
    devices = (0..<size.devices).map { ScaleDevice(DeviceID(row: Int64($0 + 1)), loop: loop, tallies) }
    for gateway in gateways { try await gateway.mailbox.start() }
  }

  func close() async throws {
    for gateway in gateways { gateway.kill() }
    try await group.shutdownGracefully()
  }

  var traffic: Traffic { gateways.reduce(Traffic()) { $0 + $1.link.traffic } }

  // MARK: Measuring

  private var modelTime: Duration {
    gateways.reduce(engine.processorTime) { $0 - $1.link.processorTime }
  }

  /// Runs an operation that consists of `count` repetitions, and returns its cost.
  func measure(_ count: Int, _ body: () async throws -> Void) async rethrows -> Measurement {
    let (start, memory, traffic) = (ContinuousClock.now, residentSize(), traffic)
    let (processor, model) = (processSeconds(), modelTime)
    try await body()
    engine.flush()
    var measured = Measurement(count: count)
    measured.seconds = (ContinuousClock.now - start) / .seconds(1)
    measured.modelSeconds = (modelTime - model) / .seconds(1)
    measured.gatewaySeconds = processSeconds() - processor - measured.modelSeconds
    measured.memory = residentSize() - memory
    measured.traffic = self.traffic - traffic
    return measured
  }

  // MARK: Devices

  /// Connects devices to gateways, `size.wave` at a time. Returns when each device has received its pending pushes.
  func connect(_ some: Range<Int>, to gateway: @escaping @Sendable (Int) -> ScaleGateway) async {
    var next = some.lowerBound
    while next < some.upperBound {
      let wave = next..<min(next + size.wave, some.upperBound)
      let target = tallies.caughtUp.count + wave.count
      loop.execute { [self] in
        for index in wave { devices[index].connect(to: gateway(index)) }
      }
      await tallies.caughtUp.reach(target)
      next = wave.upperBound
    }
  }

  /// Measures the broker's cost of subscriptions in the model, so that it can be separated from the cost of a gateway.
  func measureSubscriptions(_ count: Int) async throws -> Measurement {
    let link = engine.connect()
    defer { link.close() }
    return try await measure(count) {
      for number in 0..<count { _ = try link.subscribe("probe.\(number)", queue: nil) { _ in } }
    }
  }

  func connectAll() async -> Measurement {
    await measure(size.devices) {
      for index in gateways.indices {
        let gateway = gateways[index]
        await connect(size.devices(of: index)) { _ in gateway }
      }
    }
  }

  // MARK: Pushes

  /// Sends pushes to random connected devices, through several gateways at once. Returns when the devices have received
  /// them and the brokers have deleted them.
  func send(_ count: Int, to some: Range<Int>, through senders: [ScaleGateway]) async -> Measurement {
    let (delivered, deleted) = (tallies.delivered.count, deletions)
    return await measure(count) {
      await withTaskGroup(of: Void.self) { group in
        for (place, sender) in senders.enumerated() {
          let share = count / senders.count + (place < count % senders.count ? 1 : 0)
          group.addTask { await ScaleCluster.send((0..<share).lazy.map { _ in Int.random(in: some) }, through: sender) }
        }
      }
      await tallies.delivered.reach(delivered + count)
      while deletions < deleted + count { await settle() }
    }
  }

  /// Sends one push to each device, while none of them is connected.
  func sendOneEach(_ some: Range<Int>, through senders: [ScaleGateway]) async {
    await withTaskGroup(of: Void.self) { group in
      for (place, sender) in senders.enumerated() {
        group.addTask { await ScaleCluster.send(some.filter { $0 % senders.count == place }, through: sender) }
      }
    }
  }

  private var deletions: Int { gateways.reduce(0) { $0 + $1.link.deleted.count } }

  /// Lets operations that are in progress continue.
  func settle() async {
    engine.flush()
    await Task.yield()
  }

  private static func send(_ devices: some Collection<Int>, through sender: ScaleGateway) async {
    var left = devices[...]
    while !left.isEmpty {
      let batch = left.prefix(50).map(push)
      left = left.dropFirst(50)
      let outcomes = await withCheckedContinuation { continuation in
        sender.mailbox.append(batch) { continuation.resume(returning: $0) }
      }
      precondition(outcomes.allSatisfy { $0.seq != nil }, "a push was not stored")
    }
  }

  static func push(to device: Int) -> StoredPush {
    samplePush(to: DeviceID(row: Int64(device + 1)), payload: payload)
  }

  /// A payload of 200 bytes.
  private static let payload =
    #"{"aps":{"alert":{"title":"Simulated","body":"\#(String(repeating: "x", count: 140))"}}}"#

  // MARK: Again

  /// Runs rounds in which a gateway looks for pushes that were not announced to it.
  func look(at gateway: ScaleGateway, devices count: Int, rounds: Int) async -> Measurement {
    await measure(count) {
      for _ in 0..<rounds { await gateway.router.look() }
    }
  }
}
