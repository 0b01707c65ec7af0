import NIOCore
import NIOEmbedded
import Testing

@testable import HTTP2Transport
@testable import PushCore

/// The metrics of an event loop, without a socket.
@Suite struct LoopMeterTests {
  let loop = EmbeddedEventLoop()
  let context: LoopContext

  init() { context = LoopContext(eventLoop: loop) }

  func count(_ histogram: MetricHistogram) -> UInt64 { histogram.snapshot.counts.reduce(0, +) }

  @Test func `a turn is counted once, however much there is to do, and none while nothing is`() {
    loop.advanceTime(by: .hours(1))
    #expect(count(context.meter.iterations) == 0)
    context.scheduleIterationEnd()
    context.scheduleIterationEnd()
    loop.run()
    #expect(count(context.meter.iterations) == 1)
    context.scheduleIterationEnd()
    loop.run()
    #expect(count(context.meter.iterations) == 2)
  }

  @Test func `each connection is visited once in an interval, a share of them at a time`() throws {
    var visits: [ObjectIdentifier: Int] = [:]
    var (largest, turn) = (0, 0)
    context.visitConnections(every: .seconds(15)) { connection in
      visits[ObjectIdentifier(connection), default: 0] += 1
      turn += 1
    }
    loop.advanceTime(by: .hours(1))
    #expect(count(context.meter.lag) == 0)
    let connections = try (0..<600).map { _ in
      try Connection(role: .server, loop: context, tls: nil, peer: .remote)
    }
    for connection in connections { context.add(connection) }
    loop.advanceTime(by: .milliseconds(500))
    for second in 1...60 {
      turn = 0
      loop.advanceTime(by: .seconds(1))
      largest = max(largest, turn)
      if second % 15 == 0 { #expect(connections.allSatisfy { visits[ObjectIdentifier($0)] == second / 15 }) }
    }
    // An even share would be 40. The buckets depend on the addresses of the objects.
    #expect(largest < 200)
    #expect(count(context.meter.lag) == 60)
    #expect(count(context.meter.iterations) == 0)
    for connection in connections { context.remove(connection) }
    loop.advanceTime(by: .seconds(1))
    let lag = count(context.meter.lag)
    loop.advanceTime(by: .hours(1))
    #expect(count(context.meter.lag) == lag)
    context.add(connections[0])
    loop.advanceTime(by: .seconds(15))
    #expect(visits[ObjectIdentifier(connections[0])] == 5)
    context.remove(connections[0])
  }

  @Test func `a turn visits a few connections, and the next turns the rest`() throws {
    var visits: [ObjectIdentifier: Int] = [:]
    context.visitConnections(every: .seconds(1)) { visits[ObjectIdentifier($0), default: 0] += 1 }
    let size = LoopContext.visitsAtOnce
    let connections = try (0..<3 * size).map { _ in
      try Connection(role: .server, loop: context, tls: nil, peer: .remote)
    }
    for connection in connections { context.add(connection) }
    loop.advanceTime(by: .seconds(1))
    #expect(visits.count == size)
    // A connection that has ended since is skipped.
    let gone = try #require(connections.first { visits[ObjectIdentifier($0)] == nil })
    context.remove(gone)
    loop.advanceTime(by: .milliseconds(10))
    loop.advanceTime(by: .milliseconds(10))
    #expect(visits.count == connections.count - 1 && visits.values.allSatisfy { $0 == 1 })
    for connection in connections { context.remove(connection) }
  }

  @Test func `an interval below a second is no shorter for many connections`() throws {
    var visits = 0
    context.visitConnections(every: .milliseconds(500)) { _ in visits += 1 }
    let connections = try (0..<3).map { _ in try Connection(role: .server, loop: context, tls: nil, peer: .remote) }
    for connection in connections { context.add(connection) }
    loop.advanceTime(by: .seconds(1))
    #expect(visits == 6)
    for connection in connections { context.remove(connection) }
  }

  @Test func `lag is the time that something waited for the loop`() {
    loop.advanceTime(by: .seconds(1))
    context.noteLag(since: loop.now - .milliseconds(30))
    // The clock of another thread may be ahead.
    context.noteLag(since: loop.now + .milliseconds(30))
    let snapshot = context.meter.lag.snapshot
    #expect(snapshot.sum == 0.03)
    #expect(snapshot.counts.first == 1)
    #expect(snapshot.bounds.firstIndex(of: 0.05).map { snapshot.counts[$0] } == 1)
  }

  @Test func `open connections are counted by what their peers have shown to be`() {
    let meter = context.meter
    meter.open(.remote, .unauthenticated)
    meter.open(.remote, .unauthenticated)
    meter.open(.adminSocket, .admin)
    meter.change(.unauthenticated, to: .device)
    // Unauthenticated clients, providers, devices, administrators.
    #expect(meter.peers == [1, 0, 1, 1])
    meter.close(.remote, .device)
    #expect(meter.peers == [1, 0, 0, 1])
    #expect(meter.connections.opened == [1, 0, 2] && meter.connections.closed == [0, 0, 1])
  }

  @Test func `streams are counted while they are in use`() {
    let first = context.streams.take(id: 1)
    let second = context.streams.take(id: 3)
    #expect(context.meter.streams.value == 2)
    context.streams.give(first)
    #expect(context.meter.streams.value == 1)
    context.streams.give(second)
    #expect(context.meter.streams.value == 0)
  }

  @Test func `a listener that has no descriptors left says so`() throws {
    let limits = LimitCounters()
    let channel = EmbeddedChannel(handler: AcceptThrottle(reserve: 64, limits: limits) { _ in true }, loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    channel.read()
    channel.read()
    #expect(limits.totals[ReachedLimit.descriptors.rawValue] == 1)
    loop.advanceTime(by: .milliseconds(100))
    #expect(limits.totals[ReachedLimit.descriptors.rawValue] == 2)
  }
}
