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
    let cell = try await ScaleCell(size)
    try await fill(cell, say)
    say("\(size.devices) devices connect")
    try await connect(cell)
    say("\(size.pushes) pushes")
    try await push(cell)
    say("broadcast, presence")
    try await share(cell)
    say("a gateway dies")
    await lose(cell)
    remembering = Self.remember(size)
    try await cell.close()
  }

  private mutating func fill(_ cell: ScaleCell, _ say: @Sendable (String) -> Void) async throws {
    say("replicas of \(size.devices) devices")
    replica = try await ScaleReplica(cell).run()
  }

  private mutating func connect(_ cell: ScaleCell) async throws {
    subscribed = try await cell.measureSubscriptions(size.devices(of: 0).count)
    connected = await cell.connectAll()
    let count = size.devices(of: 0).count
    looked = await cell.look(at: cell.gateways[0], devices: count, rounds: 2)
    lookedInTurn = await cell.look(at: cell.gateways[0], devices: count, rounds: 45)
  }

  private mutating func push(_ cell: ScaleCell) async throws {
    sent = await cell.send(size.pushes, to: 0..<size.devices, through: cell.gateways)
    // The pushes go to the devices of the first gateway, through the second. The other gateways have no part in them.
    let before = cell.gateways.dropFirst(2).map { $0.link.traffic.total }
    _ = await cell.send(
      min(1_000, size.pushes), to: size.devices(of: 0), through: [cell.gateways[1]])
    let after = cell.gateways.dropFirst(2).map { $0.link.traffic.total }
    uninvolved = zip(before, after).reduce(0) { $0 + $1.1.sent + $1.1.received - $1.0.sent - $1.0.received }
  }

  private mutating func share(_ cell: ScaleCell) async throws {
    try await cell.meet()
    announced = await cell.announceAll()
    (found, listed) = await cell.list(min(10_000, size.devices))
    broadcast = try await cell.broadcast()
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
        _ = gateway.mailbox.learn(number, ScaleCell.push(to: Int(number) % size.devices))
      }
      return Double(threadTime() - start) / 1000 / Double(step)
    }
    let before = learn()
    while size.devices >= 1_000_000, number < UInt64(JetStreamMailbox.maximumKnown) { _ = learn() }
    return (before, learn())
  }

  /// Ends the last gateway. A push is sent to each of its devices, and the devices connect to the other gateways.
  private mutating func lose(_ cell: ScaleCell) async {
    let devices = size.devices(of: size.gateways - 1)
    cell.gateways[size.gateways - 1].kill()
    let others = Array(cell.gateways.dropLast())
    await cell.sendOneEach(devices, through: others)
    returned = await cell.measure(devices.count) {
      await cell.connect(devices) { others[$0 % others.count] }
    }
  }
}
