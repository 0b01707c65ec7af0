import NATSTesting
import PushTesting

@testable import PushCluster
@testable import PushCore
@testable import PushStorage

/// One complete simulation and its results.
struct ScaleRun: Sendable {
  var size: ScaleSize
  var replica = ScaleReplica.Results()
  var subscribed = Measurement(count: 0)
  var connected = Measurement(count: 0)
  var looked = Measurement(count: 0)
  var lookedInTurn = Measurement(count: 0)
  var sent = Measurement(count: 0)
  /// Messages to gateways that had neither the sender nor the device of a push.
  var uninvolved = 0
  var announced = Measurement(count: 0)
  var listed = Measurement(count: 0)
  var found = 0
  var broadcast = Measurement(count: 0)
  var returned = Measurement(count: 0)
  /// Microseconds per push that a gateway remembers: below the limit, and at the limit, where each new push evicts an
  /// older one.
  var remembering: (before: Double, after: Double) = (0, 0)

  init(_ size: ScaleSize, say: @Sendable (String) -> Void = { _ in }) async throws {
    self.size = size
    let cluster = try await ScaleCluster(size)
    try await fill(cluster, say)
    say("\(size.devices) devices connect")
    try await connect(cluster)
    say("\(size.pushes) pushes")
    try await push(cluster)
    say("broadcast, presence")
    try await share(cluster)
    say("a gateway dies")
    await lose(cluster)
    remembering = Self.remember(size)
    try await cluster.close()
  }

  private mutating func fill(_ cluster: ScaleCluster, _ say: @Sendable (String) -> Void) async throws {
    say("replicas of \(size.devices) devices")
    replica = try await ScaleReplica(cluster).run()
  }

  private mutating func connect(_ cluster: ScaleCluster) async throws {
    subscribed = try await cluster.measureSubscriptions(size.devices(of: 0).count)
    connected = await cluster.connectAll()
    let count = size.devices(of: 0).count
    looked = await cluster.look(at: cluster.gateways[0], devices: count, rounds: 2)
    lookedInTurn = await cluster.look(at: cluster.gateways[0], devices: count, rounds: 45)
  }

  private mutating func push(_ cluster: ScaleCluster) async throws {
    sent = await cluster.send(size.pushes, to: 0..<size.devices, through: cluster.gateways)
    // The pushes go to the devices of the first gateway, through the second. The other gateways have no part in them.
    let before = cluster.gateways.dropFirst(2).map { $0.link.traffic.total }
    _ = await cluster.send(
      min(1_000, size.pushes), to: size.devices(of: 0), through: [cluster.gateways[1]])
    let after = cluster.gateways.dropFirst(2).map { $0.link.traffic.total }
    uninvolved = zip(before, after).reduce(0) { $0 + $1.1.sent + $1.1.received - $1.0.sent - $1.0.received }
  }

  private mutating func share(_ cluster: ScaleCluster) async throws {
    try await cluster.meet()
    announced = await cluster.announceAll()
    (found, listed) = await cluster.list(min(10_000, size.devices))
    broadcast = try await cluster.broadcast()
  }

  /// Announces pushes to a gateway that are acknowledged at other gateways, without a notice to this gateway.
  private static func remember(_ size: ScaleSize) -> (before: Double, after: Double) {
    let gateway = ScaleGateway(ModelEngine(isReliable: true), number: 0, size)
    defer { gateway.kill() }
    var number: UInt64 = 0
    let step = min(100_000, size.pushes)
    let learn = {
      let start = threadTime()
      for _ in 0..<step {
        number += 1
        _ = gateway.mailbox.learn(number, ScaleCluster.push(to: Int(number) % size.devices))
      }
      return Double(threadTime() - start) / 1000 / Double(step)
    }
    let before = learn()
    while size.devices >= 1_000_000, number < UInt64(JetStreamMailbox.maximumKnown) { _ = learn() }
    return (before, learn())
  }

  /// Ends the last gateway. A push is sent to each of its devices, and the devices connect to the other gateways.
  private mutating func lose(_ cluster: ScaleCluster) async {
    let devices = size.devices(of: size.gateways - 1)
    cluster.gateways[size.gateways - 1].kill()
    let others = Array(cluster.gateways.dropLast())
    await cluster.sendOneEach(devices, through: others)
    returned = await cluster.measure(devices.count) {
      await cluster.connect(devices) { others[$0 % others.count] }
    }
  }
}
